package help

import "testing"

func TestClause(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one, two", 8, "one, two"},
		{"one, two", 7, "one"},
		{"one two", 6, "one"},
		{"one (two; three) four", 20, "one"},
		{"one: two, three", 14, "one"},
	} {
		if got := clause(c.text, c.width); got != c.want {
			t.Errorf("%d columns of %q: got %q, want %q", c.width, c.text, got, c.want)
		}
	}
}
