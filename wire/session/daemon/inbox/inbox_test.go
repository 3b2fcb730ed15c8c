package inbox

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/session/relay"
	"rpcx/wire/testkit"
)

// parking queues a call. The channel returns its response.
func parking(ctx context.Context, b *Inbox, method string) <-chan string {
	answer := make(chan string, 1)
	go func() {
		out, err := b.Park(ctx, dialect.Request{Method: method, Params: json.RawMessage(`[1]`)})
		switch {
		case err == nil:
			answer <- string(out)
		case ctx.Err() != nil:
			answer <- "given up"
		default:
			answer <- "error " + wire.AsError(err).Message
		}
	}()
	return answer
}

func claimed(t *testing.T, b *Inbox, h *relay.Process, method string) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := b.claim(ctx, h, method)
	if err != nil {
		return 0
	}
	return p.id
}

func counted(t *testing.T, b *Inbox, waiting, claimed int) {
	t.Helper()
	if w, c := b.Counts(); w != waiting || c != claimed {
		t.Errorf("%d calls wait and %d are claimed, want %d and %d", w, c, waiting, claimed)
	}
}

func isCall(t *testing.T, what string, got, want int64) {
	t.Helper()
	testkit.Expect(t, what, got, want)
}

// The oldest call goes to one claimant. A call that was shown stays with the claimant until its lease
// ends, and any other call until the claimant ends.
func TestInboxClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, one, two := &Inbox{}, &relay.Process{}, &relay.Process{}
		first := parking(t.Context(), b, "ask")
		synctest.Wait()
		second := parking(t.Context(), b, "other")
		synctest.Wait()
		isCall(t, "by method", claimed(t, b, one, "other"), 2)
		isCall(t, "the oldest", claimed(t, b, one, ""), 1)
		isCall(t, "no call is left", claimed(t, b, two, ""), 0)
		counted(t, b, 0, 2)

		if err := b.acknowledge(two, 1, time.Minute); !isConflict(err) {
			t.Errorf("acknowledged by another process: %v", err)
		}
		testkit.OK(t, b.acknowledge(one, 1, 10*time.Second))
		b.Release(one) // call 2, which was not shown
		isCall(t, "returned by the claimant", claimed(t, b, two, ""), 2)
		counted(t, b, 0, 2)
		begun := time.Now()
		isCall(t, "after the lease", claimed(t, b, two, ""), 1)
		testkit.Expect(t, "the lease lasted", time.Since(begun), 10*time.Second)

		for id, answer := range map[int64]parkedAnswer{1: {result: json.RawMessage("true")}, 2: {err: wire.NewError(7, "no")}} {
			testkit.OK(t, b.reply(id, answer))
			if err := b.reply(id, answer); !isConflict(err) {
				t.Errorf("a second reply: %v", err)
			}
		}
		testkit.Expect(t, "call 1", <-first, "true")
		testkit.Expect(t, "call 2", <-second, "error no")
		synctest.Wait()
		counted(t, b, 0, 0)
	})
}

// A returned call goes to a waiting claimant at once.
func TestInboxWakesClaimants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, one, two := &Inbox{}, &relay.Process{}, &relay.Process{}
		answer := parking(t.Context(), b, "ask")
		synctest.Wait()
		isCall(t, "claimed", claimed(t, b, one, ""), 1)
		begun := time.Now()
		time.AfterFunc(time.Second, func() { b.Release(one) })
		isCall(t, "returned by the claimant", claimed(t, b, two, ""), 1)
		testkit.Expect(t, "the returned call was claimed after", time.Since(begun), time.Second)
		testkit.OK(t, b.reply(1, parkedAnswer{result: json.RawMessage("1")}))
		testkit.Expect(t, "the reply", <-answer, "1")
	})
}

// A claimed call that is answered, cancelled or expired leaves no state behind, such as a lease.
func TestInboxCallsThatEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := &Inbox{timeout: time.Minute}, &relay.Process{}
		ctx, cancel := context.WithCancel(t.Context())
		gone := parking(ctx, b, "ask")
		synctest.Wait()
		isCall(t, "claimed", claimed(t, b, h, ""), 1)
		cancel()
		testkit.Expect(t, "the caller that cancelled", <-gone, "given up")
		synctest.Wait()
		if err := b.acknowledge(h, 1, time.Hour); !isConflict(err) {
			t.Errorf("acknowledged a cancelled call: %v", err)
		}
		late := parking(t.Context(), b, "ask")
		synctest.Wait()
		isCall(t, "claimed", claimed(t, b, h, ""), 2)
		testkit.OK(t, b.acknowledge(h, 2, time.Hour))
		testkit.Expect(t, "a call without a reply", <-late, "error no process answered")
		b.defaultAnswer = json.RawMessage(`{"ok":0}`)
		testkit.Expect(t, "the default reply", <-parking(t.Context(), b, "ask"), `{"ok":0}`)
		counted(t, b, 0, 0)
		// A process that has ended claims nothing.
		left := &Inbox{}
		_, _ = left.add(dialect.Request{Method: "ask"})
		if _, err := left.Methods(nil)["inbox.next"](ctx, h, &dialect.Inbound{Msg: wire.Message{Params: json.RawMessage("{}")}}); err != context.Canceled {
			t.Error(err)
		}
		counted(t, left, 1, 0)
		// A reply that was accepted before the call could be withdrawn counts.
		for range 20 {
			late := parking(t.Context(), b, "ask")
			synctest.Wait()
			b.mu.Lock()
			time.Sleep(b.timeout)
			p := b.parked[0]
			b.remove(p)
			p.answer <- parkedAnswer{err: wire.NewError(1, "mine")}
			b.mu.Unlock()
			testkit.Expect(t, "a late reply", <-late, "error mine")
		}
	})
}

// Calls are in the order in which they arrived.
func TestInboxKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := &Inbox{}, &relay.Process{}
		ctx, cancel := context.WithCancel(t.Context())
		ids := []string{`"a"`, `2`, `"c"`}
		for _, id := range ids {
			b.Reserve(wire.ID(id))
		}
		for _, id := range []string{ids[2], `"nobody told"`, ids[0], ids[1]} {
			go b.Park(ctx, dialect.Request{Method: id, ID: wire.ID(id)})
			synctest.Wait()
		}
		for n, id := range append(ids, `"nobody told"`) {
			isCall(t, id, claimed(t, b, h, ""), int64(n+1))
			testkit.Expect(t, "the call's method", b.find(int64(n+1)).method, id)
		}
		cancel()
		synctest.Wait()
		if len(b.reserved) > 0 {
			t.Errorf("reserved ids remain: %v", b.reserved)
		}
	})
}

// A new call wakes one claimant. Calls over the limit are rejected at once.
func TestInboxIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Inbox{}
		got := make(chan int64)
		for range 2 {
			go func() { got <- claimed(t, b, &relay.Process{}, "") }()
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		for range maxParked {
			parking(ctx, b, "ask")
		}
		if x, y := <-got, <-got; x == y || x*y == 0 {
			t.Errorf("two claimants got %d and %d", x, y)
		}
		synctest.Wait()
		testkit.Expect(t, "a call above the limit", <-parking(ctx, b, "ask"), "error busy")
		cancel()
		synctest.Wait()
		counted(t, b, 0, 0)
	})
}

func isConflict(err error) bool {
	f := wire.AsFault(err)
	return f != nil && f.Kind == wire.Conflict
}
