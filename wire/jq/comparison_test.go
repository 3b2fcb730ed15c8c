package jq

import "testing"

// Who writes = for == is shown the program that compares.
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
