package schema

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// Patterns of ECMA-262 that Go cannot express are checked; one that takes too long, or is invalid, is not evaluated, which
// All reports.
func TestPatternsThatGoCannotExpress(t *testing.T) {
	slow := strings.Repeat("a", 60) + "!"
	for _, c := range []struct{ pattern, fits, not, open string }{
		{"^(?!foo)", "bar", "foobar", ""},
		{"(?<=a)b", "ab", "b", ""},
		{`^(a|b)\1$`, "aa", "ab", ""},
		{`^(?=\d)\S+$`, "1a", "٣a", ""}, // digits are ASCII, blanks are not
		{`^(?=.)\p{L}+$`, "aπ", "a1", ""},
		{`^(?=.)\u{1F600}$`, "😀", "x", ""},
		{`^(?=.).$`, "😀", "ab", ""},
		{`^(?!x)a$`, "a", "a\n", ""},
		{"^(?=a)(a+)+$", "aa", "", slow},
		{"^(?&x)", "", "", "a"},
	} {
		text, _ := json.Marshal(map[string]string{"pattern": c.pattern})
		s, err := Open(fstest.MapFS{"s": {Data: text}}, "s", "", FileOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		look := func(value string) (bool, string) {
			b, _ := json.Marshal(value)
			found, open, err := s.All(t.Context(), b)
			if err != nil {
				t.Error(err)
			}
			return len(found) == 0, open
		}
		if ok, open := look(c.fits); c.fits != "" && (!ok || open != "") {
			t.Errorf("%s does not match %q (%s)", c.pattern, c.fits, open)
		}
		if ok, _ := look(c.not); c.not != "" && ok {
			t.Errorf("%s matches %q", c.pattern, c.not)
		}
		started := time.Now()
		if ok, open := look(c.open); c.open != "" && (!ok || open == "") {
			t.Errorf("%s and %q: %v, %q", c.pattern, c.open, ok, open)
		}
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("%s takes %v", c.pattern, took)
		}
	}
}

// A peer's pattern takes bounded time and memory, however it is written.
func TestHostilePatterns(t *testing.T) {
	for _, pattern := range []string{
		"(?=" + strings.Repeat("(", 5_000) + strings.Repeat(")", 5_000) + ")",
		"(?!x)((a{1000}){1000}){1000}", "(?=a)" + strings.Repeat("a{0,999}", 2_000), "(?=x)" + strings.Repeat("[^a]*", 20_000) + "b",
		`(?=x)` + strings.Repeat(`(a*)*\1`, 500), "(?=" + strings.Repeat("x", 1<<20) + ")",
	} {
		started := time.Now()
		text, _ := json.Marshal(map[string]string{"pattern": pattern})
		if s, err := Compile(text, "", Options{}); err == nil {
			b, _ := json.Marshal(strings.Repeat("a", 5_000) + strings.Repeat("x", 5_000))
			_ = s.Check(t.Context(), b)
		}
		if took := time.Since(started); took > 3*time.Second {
			t.Errorf("%.60s takes %v", pattern, took)
		}
	}
}
