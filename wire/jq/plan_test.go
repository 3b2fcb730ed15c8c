package jq

import (
	"encoding/json"
	"testing"
)

// Which programs have a plan, so that gojq need not be run.
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

		`$v.a`:                        false,
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
		`.[-1] == 1`:                  false,
		`.a == 1e3`:                   false,
		`.a == 1234567890123456`:      false,
		`{(.a): 1}`:                   false,
		`{"\(.a)": 1}`:                false,
		`{$v}`:                        false,
		`{a: 1, a: 2}`:                false,
		`{a: (1, 2)}`:                 false,
		`.a + 1`:                      false,
		`(.a == 1) | select(.)`:       false,
		`"x" | .[0]`:                  false,
		`.a as $x | $x == 1`:          false,
		`-(.a)`:                       false,
		`@base64 "\(.a)"`:             false,
		`{a: 1}[]`:                    false,
	} {
		p, err := Compile(src, Options{Vars: map[string]json.RawMessage{"v": json.RawMessage(`[1]`)}})
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if p.code == nil || (p.plan != nil) != planned {
			t.Errorf("%s: it has a plan: %v", src, !planned)
		}
	}
}
