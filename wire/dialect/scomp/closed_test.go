package scomp

import (
	"testing"
	"testing/synctest"
	"time"
)

// A closed server keeps nothing: no session waits for its end, and none is passed to the closed runtime.
func TestClosedServerKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		s := newServer(backend{r}, time.Minute)
		left, held := s.join(""), s.join("")
		s.leave(left)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s.leave(held)
		late := s.join(left.id)
		s.leave(late)
		time.Sleep(time.Hour)
		if late == left || len(s.sessions) != 0 || len(r.forgot) != 0 {
			t.Errorf("%d sessions are kept, %q were forgotten", len(s.sessions), r.forgot)
		}
	})
}
