package batch

import (
	"slices"
	"testing"
)

func lines(names string) (all []*job) {
	for _, name := range []byte(names) {
		all = append(all, &job{line: []byte{name}})
	}
	return all
}

func names(jobs []*job) (s string) {
	for _, j := range jobs {
		s += string(j.line)
	}
	return s
}

func started(s *schedule) (all []*job) {
	for j := s.startNext(); j != nil; j = s.startNext() {
		all = append(all, j)
	}
	return all
}

func end(s *schedule, jobs ...*job) {
	for _, j := range jobs {
		j.ended = true
		s.end(j)
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
		s := &schedule{atOnce: 3, unordered: c.unordered}
		all := lines("abcde")
		s.queue(all)
		if got := names(started(s)); got != "abc" {
			t.Fatalf("%v: started %q", c.unordered, got)
		}
		end(s, all[1], all[2])
		if got := names(s.next()); got != c.ready {
			t.Errorf("%v: ready %q, not %q", c.unordered, got, c.ready)
		}
		if got := names(started(s)); got != c.next {
			t.Errorf("%v: then started %q, not %q", c.unordered, got, c.next)
		}
		s.printed()
		if !c.unordered {
			end(s, all[0], all[3])
			if got := names(s.next()); got != "abcd" {
				t.Errorf("ready at the end: %q", got)
			}
			s.printed()
		}
		var free []*job
		for j := s.reuse(); j != nil; j = s.reuse() {
			free = append(free, j)
		}
		if slices.Reverse(free); names(free) != c.stayed {
			t.Errorf("%v: free %q, not %q", c.unordered, names(free), c.stayed)
		}
	}
}

// TestStop checks that after a stop, only the first line is still sent, so that its response gives the reason.
func TestStop(t *testing.T) {
	s, all := &schedule{atOnce: 1}, lines("abc")
	s.queue(all)
	started(s)
	if first := s.stop(); first != all[1] {
		t.Fatalf("stopped: %v", first)
	}
	end(s, all[1], all[0])
	s.queue(all[2:])
	if got := names(s.next()) + names(started(s)); got != "ab" || s.done() {
		t.Errorf("ready %q, done: %v", got, s.done())
	}
	if s.printed(); !s.done() || !s.stopped {
		t.Error("not done")
	}
	u := &schedule{atOnce: 1, unordered: true}
	u.queue(all[2:])
	if first := u.stop(); first != nil || !u.done() {
		t.Error("stop returned a line of an unordered batch")
	}
}

// TestAhead checks that the number and the total size of lines that are read ahead are bounded.
func TestAhead(t *testing.T) {
	s := &schedule{atOnce: 1}
	s.queue(slices.Repeat([]*job{{}}, aheadLines/2))
	if s.ahead(1) || !s.ahead(2) {
		t.Error("the limit on lines is wrong")
	}
	s = &schedule{atOnce: 1}
	if s.queue([]*job{{line: make([]byte, aheadBytes/2)}}); s.ahead(1) || !s.ahead(2) {
		t.Error("the limit on bytes is wrong")
	}
}
