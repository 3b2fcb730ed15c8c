package dialect

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A time limit counts only the time in which the Stopwatch runs.
func TestStopwatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Stopwatch
		late := errors.New("late")
		limit := func(d time.Duration) (context.Context, func()) {
			return WithWorkLimit(WithStopwatch(t.Context(), &w), d, late)
		}
		after := func(d time.Duration, ctx context.Context, want error) {
			t.Helper()
			time.Sleep(d)
			if synctest.Wait(); context.Cause(ctx) != want {
				t.Errorf("got %v, want %v", context.Cause(ctx), want)
			}
		}
		long, stop := limit(10 * time.Second)
		defer stop()
		after(4*time.Second, long, nil)
		w.Stop()
		second, stop := limit(3 * time.Second)
		defer stop()
		ended, stop := limit(time.Second)
		stop()
		after(time.Hour, long, nil)
		after(0, second, nil)
		w.Start()
		after(2*time.Second, second, nil)
		after(2*time.Second, second, late)
		after(time.Second, long, nil)
		w.Stop()
		w.Start()
		after(500*time.Millisecond, long, nil)
		after(time.Second, long, late)
		after(0, ended, context.Canceled)
		bare, stop := WithWorkLimit(t.Context(), time.Second, late)
		defer stop()
		after(2*time.Second, bare, late)
	})
}
