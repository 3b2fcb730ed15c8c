package report

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"time"

	"rpcx/wire/testkit"
)

// A crowd yields n failures, and calls halfway after half of them.
type crowd struct {
	n       int
	halfway func()
}

func (c crowd) Len() int { return c.n }

func (c crowd) All() iter.Seq[Failure] {
	return func(yield func(Failure) bool) {
		for i := range c.n {
			if i == c.n/2 && c.halfway != nil {
				c.halfway()
			}
			if !yield(failureOf(i)) {
				return
			}
		}
	}
}

func failureOf(i int) Failure {
	f := Failure{Kind: "differs", Message: fmt.Sprintf("line %d: <&> \"is\" \x01 later-x\u2028", i)}
	if i%3 == 0 {
		f.Kind = ""
	}
	return f
}

// Failures from an iterator are written like those from a slice.
func TestManyFailuresAreWrittenLikeOthers(t *testing.T) {
	suites := func(many bool) []Suite {
		s := Suite{Name: "s", Started: time.Unix(1, 0)}
		for i, n := range []int{0, 1, 5, 2} {
			c := Case{Name: fmt.Sprintf("c%d", i), Duration: time.Second}
			if i == 2 {
				c.Error = "later-"
			}
			for k := range n {
				c.Failures = append(c.Failures, failureOf(k))
			}
			if many && i > 0 {
				c.Failures, c.Many = nil, crowd{n: n}
			}
			s.Cases = append(s.Cases, c)
		}
		return []Suite{s, {Name: "none"}}
	}
	for form := range writers {
		var few, many bytes.Buffer
		testkit.OK(t, writers[form](&few, suites(false)))
		testkit.OK(t, writers[form](&many, suites(true)))
		if few.String() != many.String() || strings.Count(few.String(), "line 4") != 1 {
			t.Errorf("%s: got\n%s\nwant\n%s", form, many.String(), few.String())
		}
	}
}

// The memory for a report does not depend on the number of failures.
func TestMemory(t *testing.T) {
	testkit.RaceSkips(t)
	for form := range writers {
		use := func(n int) (used int64) {
			all := crowd{n: n, halfway: func() { used = testkit.Heap() }}
			testkit.OK(t, writers[form](io.Discard, []Suite{{Cases: []Case{{Many: all}}}}))
			return used
		}
		few, many := use(10_000), use(100_000)
		if each := float64(many-few) / 90_000; each > 1 {
			t.Errorf("%s: %.1f bytes per failure", form, each)
		}
	}
}
