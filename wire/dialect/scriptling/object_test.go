package scriptling

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// Calls of an object wait for each other, but not for one that waits for a
// callback.
func TestObjectTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &object{}
		ctx, cancel := context.WithCancel(t.Context())
		entered := 0
		enter := func(ctx context.Context) error {
			err := o.enter(ctx)
			if err == nil {
				entered++
			}
			return err
		}
		if enter(ctx) != nil {
			t.Fatal("the first call waits")
		}
		failed := make(chan error, 1)
		go func() { failed <- enter(ctx) }()
		go func() { _ = enter(t.Context()) }()
		synctest.Wait()
		if entered != 1 {
			t.Fatalf("%d calls run at once", entered)
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Fatalf("a call that nobody waits for: %v", err)
		}
		o.wait(true)
		synctest.Wait()
		if entered != 2 {
			t.Fatal("what came during the callback waits")
		}
		go func() { _ = enter(t.Context()) }()
		synctest.Wait()
		if entered != 2 {
			t.Fatal("two came during one callback, and both run")
		}
		o.leave()
		synctest.Wait()
		if entered != 3 {
			t.Fatal("the next one waits")
		}
		o.wait(false)
		o.leave()
		o.leave()
		if enter(t.Context()) != nil || entered != 4 {
			t.Fatal("the last one waits")
		}
	})
}
