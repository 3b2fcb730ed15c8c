package hook

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// An entrySet has the entries of a table by their names.
type entrySet struct {
	exact    map[string]*chain
	patterns []*chain // in the order in which they are tried
	names    []string
}

// Replace replaces the entries of t; earlier entries take precedence over later ones. Hooks that run continue.
func (t *Table) Replace(entries ...Entry) error {
	set := &entrySet{exact: map[string]*chain{}}
	seen := map[string]*chain{}
	for _, e := range entries {
		if e.Pattern == "" {
			return usage("a hook needs a name")
		}
		if e.Answer.Kind == JQ && e.Answer.prog == nil {
			a, err := ParseAnswer("jq:" + e.Answer.Text)
			if err != nil {
				return inside("hook "+e.Pattern, err)
			}
			e.Answer = a
		}
		if e.Answer.Kind == Inbox && t.o.Park == nil {
			f := usage("hook %s: inbox works only in a session", e.Pattern)
			f.Hint = "rpcx connect ENDPOINT --session NAME opens one"
			return f
		}
		c := seen[e.Pattern]
		if c == nil {
			c = set.add(e.Pattern)
			seen[e.Pattern] = c
		}
		c.answers = append(c.answers, &e.Answer)
	}
	slices.SortStableFunc(set.patterns, func(a, b *chain) int { return b.literal - a.literal })
	t.entries.Store(set)
	return nil
}

func (s *entrySet) add(pattern string) *chain {
	c := &chain{pattern: pattern}
	stars := strings.Count(pattern, "*")
	if stars == 0 {
		s.exact[pattern] = c
		s.names = append(s.names, pattern)
		return c
	}
	c.literal = utf8.RuneCountInString(pattern) - stars
	s.patterns = append(s.patterns, c)
	return c
}
