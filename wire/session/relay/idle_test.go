package relay

import (
	"context"
	"encoding/json"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
)

// A socket becomes idle when the last attached process ends. Reading the status makes no difference.
func TestIdleCountsFromTheLastUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attach := func(_ context.Context, h *Process, _ *dialect.Inbound) (json.RawMessage, error) {
			h.Attach()
			return json.RawMessage("1"), nil
		}
		look := func(context.Context, *Process, *dialect.Inbound) (json.RawMessage, error) {
			return json.RawMessage("1"), nil
		}
		s := New(&Functions{}, ServerOptions{Methods: map[string]Method{"attach": attach, "look": look}})
		idle := func(when string, want time.Duration) {
			t.Helper()
			testkit.Expect(t, when, s.Idle().Round(time.Second), want)
		}
		use := func(method string) (gone func()) {
			near, far := net.Pipe()
			s.wg.Go(func() { s.converse(far) })
			c := socketPeer(near, peer.Options{})
			_, err := c.Call(t.Context(), method, nil)
			testkit.OK(t, err)
			return func() {
				_ = c.Close()
				synctest.Wait()
			}
		}
		time.Sleep(time.Hour)
		idle("at first", time.Hour)
		gone := use("attach")
		time.Sleep(time.Hour)
		idle("while a process is attached", 0)
		gone()
		idle("after the process has ended", 0)
		time.Sleep(time.Minute)
		use("look")()
		idle("after a status request", time.Minute)
		s.wg.Wait()
	})
}
