package scomp

import (
	"testing"
	"testing/synctest"
	"time"
)

// After the server is closed nothing is kept: no session waits for its end, and none is told to the runtime, which is closed, too.
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
