package schedule

import (
	"slices"
	"testing"
)

type line struct {
	name  string
	ended bool
}

func (l *line) Ended() bool { return l.ended }
func (l *line) Size() int   { return len(l.name) }

func names(lines []*line) (s string) {
	for _, l := range lines {
		s += l.name
	}
	return s
}

func started(s *Schedule[*line]) (all []*line) {
	for l, ok := s.Start(); ok; l, ok = s.Start() {
		all = append(all, l)
	}
	return all
}

func end(s *Schedule[*line], lines ...*line) {
	for _, l := range lines {
		l.ended = true
		s.End(l)
	}
}

// TestSchedule checks that responses are printed in the order of the lines or of their arrival, and that the numbers of running and
// unprinted jobs are bounded.
func TestSchedule(t *testing.T) {
	for _, c := range []struct {
		unordered           bool
		ready, next, stayed string
	}{
		{false, "", "d", "abcd"},
		{true, "bc", "", "bc"},
	} {
		s := New[*line](3, c.unordered)
		var all []*line
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			all = append(all, &line{name: name})
		}
		s.Queue(all)
		if got := names(started(s)); got != "abc" {
			t.Fatalf("%v: started %q", c.unordered, got)
		}
		end(s, all[1], all[2])
		if got := names(s.Ready()); got != c.ready {
			t.Errorf("%v: ready %q, not %q", c.unordered, got, c.ready)
		}
		if got := names(started(s)); got != c.next {
			t.Errorf("%v: then started %q, not %q", c.unordered, got, c.next)
		}
		s.Printed()
		if !c.unordered {
			end(s, all[0], all[3])
			if got := names(s.Ready()); got != "abcd" {
				t.Errorf("ready at the end: %q", got)
			}
			s.Printed()
		}
		var free []*line
		for l, ok := s.Free(); ok; l, ok = s.Free() {
			free = append(free, l)
		}
		if slices.Reverse(free); names(free) != c.stayed {
			t.Errorf("%v: free %q, not %q", c.unordered, names(free), c.stayed)
		}
	}
}

// TestStop checks that after a stop, only the first line is still sent, so that its response gives the reason.
func TestStop(t *testing.T) {
	a, b, c := &line{name: "a"}, &line{name: "b"}, &line{name: "c"}
	s := New[*line](1, false)
	s.Queue([]*line{a, b, c})
	started(s)
	if first, ok := s.Stop(); !ok || first != b {
		t.Fatalf("stopped: %v %v", first, ok)
	}
	end(s, b, a)
	s.Queue([]*line{c})
	if got := names(s.Ready()) + names(started(s)); got != "ab" || s.Done() {
		t.Errorf("ready %q, done: %v", got, s.Done())
	}
	if s.Printed(); !s.Done() || !s.Stopped() {
		t.Error("not done")
	}
	u := New[*line](1, true)
	u.Queue([]*line{c})
	if _, ok := u.Stop(); ok || !u.Done() {
		t.Error("Stop returned a line of an unordered batch")
	}
}

// TestAhead checks that the number and the total size of lines that are read ahead are bounded.
func TestAhead(t *testing.T) {
	s := New[*line](1, false)
	for range aheadLines / 2 {
		s.Queue([]*line{{}})
	}
	if s.Ahead(1) || !s.Ahead(2) {
		t.Error("the limit on lines is wrong")
	}
	s = New[*line](1, false)
	if s.Queue([]*line{{name: string(make([]byte, AheadBytes/2))}}); s.Ahead(1) || !s.Ahead(2) {
		t.Error("the limit on bytes is wrong")
	}
}
