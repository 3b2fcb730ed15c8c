package hook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

// A slot that is freed while its waiter is cancelled goes to another waiter.
func TestASlotOfACancelledWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i := range 200 {
			s := &share{of: &semaphore{}}
			ctx, cancel := context.WithCancel(t.Context())
			gone, wanted := make(chan error, 1), make(chan error, 1)
			go func() { gone <- s.acquire(ctx) }()
			synctest.Wait()
			go func() { wanted <- s.acquire(t.Context()) }()
			synctest.Wait()
			if i%2 == 0 {
				cancel()
				s.release()
			} else {
				s.release()
				cancel()
			}
			switch err := <-gone; {
			case err == nil && i%2 == 0:
				t.Fatal("a cancelled request got a slot")
			case err == nil: // it was quicker than cancel
				s.release()
			}
			testkit.OK(t, <-wanted)
			s.release()
			if err := s.acquire(ctx); err == nil || s.of.free != 1 {
				t.Fatal(err, s.of.free)
			}
		}
	})
}

// A slot that is freed for a nested call is taken back afterwards, so that the limit holds.
func TestASlotIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &share{of: &semaphore{free: 1}}
		testkit.OK(t, s.acquire(t.Context()))
		resume := s.pause()
		testkit.OK(t, s.acquire(t.Context())) // for the hook of the nested call
		resume()                              // while the nested hook still runs
		third := make(chan error, 1)
		go func() { third <- s.acquire(t.Context()) }()
		synctest.Wait()
		s.release()
		synctest.Wait()
		select {
		case <-third:
			t.Fatal("two requests run at once with a limit of one")
		default:
		}
		s.release()
		testkit.OK(t, <-third)
		s.release()
		testkit.Expect(t, "free slots in the end", s.of.free, 1)
	})
}

// The next free slot goes to the client with the fewest slots, and to clients with equally many in turn.
func TestSlotsAreSharedFairly(t *testing.T) {
	for _, tt := range []struct {
		slots    int
		wait     string // a letter for the client of each waiter, in order
		released string // clients that release a slot, in order
		served   string
	}{
		{2, "gggggg" + "mm", "gmggg", "ggmmggg"},
		{1, "ggg" + "mmm" + "n", "ggmng", "ggmngm"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, clients, served := &semaphore{free: tt.slots}, map[rune]*share{}, ""
			for _, name := range tt.wait {
				if clients[name] == nil {
					clients[name] = &share{of: s}
				}
				go func() {
					if clients[name].acquire(t.Context()) == nil {
						served += string(name)
					}
				}()
				synctest.Wait()
			}
			for _, name := range tt.released {
				clients[name].release()
				synctest.Wait()
			}
			testkit.Expect(t, tt.wait+" waited, "+tt.released+" gave back", served, tt.served)
		})
	}
}

// At most MaxStreams streams run, at most half of them for one client. Until one ends, more are refused at once with a warning.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{}, "m=lines:echo 1")
	other := w.table.Bind(Binding{})
	third := w.table.Bind(Binding{})
	t.Cleanup(func() { _, _ = other.Close(), third.Close() })
	var release func()
	fill := func(b *ConnectionHooks) {
		for range MaxStreams / 2 {
			var err error
			_, release, err = b.hold(t.Context(), true)
			testkit.OK(t, err)
		}
	}
	stream := func(b *ConnectionHooks) error {
		_, err := b.Answer(t.Context(), dialect.Request{Method: "m", Stream: true, Emit: func(wire.Event) error { return nil }})
		return err
	}
	refused := func(who string, b *ConnectionHooks) {
		t.Helper()
		warned := len(w.warnings)
		err, _ := errors.AsType[*wire.Error](stream(b))
		if err == nil || string(err.Code) != "-32000" || len(w.warnings) != warned+1 || !strings.Contains(w.warnings[warned], "512 streams") {
			t.Errorf("%s: %v, warnings %q", who, err, w.warnings[warned:])
		}
	}
	fill(w.ConnectionHooks)
	refused("a client with half of all streams", w.ConnectionHooks)
	testkit.OK(t, stream(other))
	fill(other)
	refused("a third client", third)
	release()
	testkit.OK(t, stream(third))
}
