package env

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
)

// The limit for the first message does not apply to later ones, and --idle replaces it.
func TestFirstMessage(t *testing.T) {
	for _, tt := range []struct {
		name  string
		idle  time.Duration
		touch time.Duration // when the first message arrives; 0 means never
		ends  time.Duration // when the context ends; 0 means never
	}{
		{"no message", 0, 0, time.Minute},
		{"a message before the limit", 0, 59 * time.Second, 0},
		{"no message, with an idle timeout", time.Hour, 0, time.Hour},
		{"a message, then the idle timeout", time.Second, 500 * time.Millisecond, 1500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				cl := NewDeadline(t.Context(), 0, tt.idle).FirstMessage(time.Minute)
				defer cl.Stop()
				if tt.touch > 0 {
					time.Sleep(tt.touch)
					cl.Touch()
				}
				select {
				case <-cl.Ctx.Done():
					f := wire.AsFault(context.Cause(cl.Ctx))
					if took := time.Since(begun); took != tt.ends || f == nil || f.Kind != wire.Timeout {
						t.Errorf("ended after %v: %v", took, f)
					}
				case <-time.After(24 * time.Hour):
					if tt.ends != 0 {
						t.Error("the context did not end")
					}
				}
			})
		})
	}
}
