package jq

import (
	"encoding/json"
	"strings"
	"testing"
)

// Which programs have a plan, so that gojq need not be run.
func TestPlan(t *testing.T) {
	for src, planned := range map[string]bool{
		`.a, .b`:                      true,
		`select(.a)`:                  true,
		`select(.a == -1.5) | .b`:     true,
		`empty`:                       true,
		`if .a then empty else . end`: true,
		`if .a then .b elif .c then .d elif .e then .f end`:     true,
		`{x: (if .a then 1 elif .b then 2 elif .c then 3 end)}`: true,
		`[(if .a then 1 elif .b then .b else "x" end) == 1]`:    true,
		`.a[].b`:                     true,
		`[.a[] | select(.b)]`:        true,
		`(.a, .b) | .c`:              true,
		`{a, b: 1, "c": .d}`:         true,
		`"\(.a) and \(.b | length)"`: true,
		`.a | has("b")`:              true,
		`.a | test("^x")`:            true,
		`(.a | startswith("x")) and (.b | endswith("y")) or (.c | contains("z"))`: true,
		`.a // "none"`:   true,
		`$v.a`:           false,
		`. == $v`:        true,
		`.["é"][3] == 0`: true,

		`def f: .a; f == 1`:                 false,
		`.a[1:] == []`:                      false,
		`.[-1] == 1`:                        false,
		`.a == 1e3`:                         false,
		`.a == 1234567890123456`:            false,
		`.a == 123456789012345`:             true,
		`{(.a): 1}`:                         false,
		`.a` + strings.Repeat(", .a", 10):   true,
		`.a` + strings.Repeat(", .a", 1000): false,
		`def f: 1; .a, .b`:                  false,
		`module {}; .a, .b`:                 false,
		`{"\(.a)": 1}`:                      false,
		`{"$x": 1, "": 2}`:                  true,
		`{$v}`:                              false,
		`{a: 1, a: 2}`:                      false,
		`{a: (1, 2)}`:                       false,
		`.a + 1`:                            false,
		`.a | test("(")`:                    false,
		`.a | test("x"; "i")`:               false,
		`.a | test(.b)`:                     false,
		`.a | startswith("\(.b)")`:          false,
		`.a | has(0)`:                       false,
		`.a | splits("x")`:                  false,
		`.a | keys`:                         false,
		`"x" | .[0]`:                        false,
		`.a as $x | $x == 1`:                false,
		`[..]`:                              false,
		`-(.a)`:                             false,
		`@base64 "\(.a)"`:                   false,
		`{a: 1}[]`:                          false,
		`.a == 1` + strings.Repeat(" or .a == 1", 10):   true,
		`.a == 1` + strings.Repeat(" or .a == 1", 1000): false,
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
