package jq

import (
	"encoding/json"
	"testing"
)

// These programs run without gojq.
func TestPlan(t *testing.T) {
	for src, planned := range map[string]bool{
		`select(.a)`:                  true,
		`select(.a == -1.5) | .b`:     true,
		`select(.a) | {a, b: .c.d}`:   true,
		`.a | select(.b == 1) | .c`:   true,
		`.a | . == 1`:                 true,
		`{a, b: 1, "c": .d}`:          true,
		`{a: {b: (.c == .d)}}`:        true,
		`.a == 1 and .b or (.c != 2)`: true,
		`. == $v`:                     true,
		`.["é"][3] == 0`:              true,
		`.a? == 1`:                    true,
		`.a == 123456789012345`:       true,
		`{"$x": 1, "": 2}`:            true,
		`$v.a`:                        true,
		`.a, .b`:                      false,
		`empty`:                       false,
		`if .a then empty else . end`: false,
		`.a[].b`:                      false,
		`[.a]`:                        false,
		`"\(.a)"`:                     false,
		`.a // "none"`:                false,
		`.a | test("^x")`:             false,
		`.a | length`:                 false,
		`def f: .a; f == 1`:           false,
		`def f: 1; .a == 1`:           false,
		`module {}; .a == 1`:          false,
		`.a[1:] == []`:                false,
		`.[-1] == 1`:                  true,
		`.a == 1e3`:                   true,
		`.a == 1234567890123456`:      true,
		`{(.a): 1}`:                   false,
		`{"\(.a)": 1}`:                false,
		`{$v}`:                        false,
		`{a: 1, a: 2}`:                true,
		`{a: (1, 2)}`:                 false,
		`.a + 1`:                      false,
		`(.a == 1) | select(.)`:       true,
		`"x" | .[0]`:                  true,
		`.a as $x | $x == 1`:          false,
		`-(.a)`:                       false,
		`@base64 "\(.a)"`:             false,
		`{a: 1}[]`:                    false,
	} {
		p := compiled(t, src, Options{Vars: map[string]json.RawMessage{"v": json.RawMessage(`[1]`)}})
		if p.path != nil || (p.plan != nil) != planned {
			t.Errorf("%s: has a plan: %v", src, !planned)
		}
	}
}

// For a program with = instead of ==, the error proposes the program with ==.
func TestComparison(t *testing.T) {
	for src, want := range map[string]string{
		`.a = 1`:                         `.a == 1`,
		`.a |= 1`:                        `.a == 1`,
		`.a += 1`:                        `.a == 1`,
		`.a //= 1`:                       `.a == 1`,
		`(.a = 1)`:                       `(.a == 1)`,
		`((.a = 1))`:                     `((.a == 1))`,
		`.x | .a = 1`:                    `.x | .a == 1`,
		`.x | .y | .a = 1`:               `.x | .y | .a == 1`,
		`.x | (.y | .a = 1)`:             `.x | (.y | .a == 1)`,
		`.a = 1 + 2`:                     `.a == (1 + 2)`,
		`.a, .b = 1`:                     ``,
		`.a == 1`:                        ``,
		`(.a = 1) | .b`:                  ``,
		`(.a = 1).b`:                     ``,
		`.a`:                             ``,
		`.a = `:                          ``,
		``:                               ``,
		`.a < 1`:                         ``,
		`if .a = 1 then true else . end`: ``,
	} {
		if got, ok := Comparison(src); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v; want %q", src, got, ok, want)
		}
	}
}
