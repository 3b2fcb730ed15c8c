package peer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
)

// TestUnreadAnswersAreStoredOnce checks that unread responses take no more memory than their messages, and that after one client
// has exhausted the Budget, the others get only a few responses.
func TestUnreadAnswersAreStoredOnce(t *testing.T) {
	testkit.RaceSkips(t)
	const answer, asked, clients, bound = 1 << 20, 40, 8, 32 << 20
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		var high atomic.Bool
		budget := &peer.Budget{Most: bound, High: bound / 4, OnHigh: high.Store}
		handler := with(func(ctx context.Context, _ *dialect.Inbound) (json.RawMessage, error) {
			if err := awaitRoom(ctx); err != nil {
				return nil, err
			}
			made.Add(1)
			return json.RawMessage(`"` + strings.Repeat("x", answer) + `"`), nil
		})
		before := testkit.Heap()
		for range clients {
			p, far := paired(t, peer.Options{Budget: budget, Handler: handler})
			defer p.Close()
			go func() {
				for i := range asked {
					if far.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"m"}`, i)) != nil {
						return
					}
				}
			}()
			synctest.Wait()
		}
		// In addition to the common limit, each client has a small share and one response in progress.
		if n := made.Load(); n > bound/answer+clients*3+16 {
			t.Errorf("%d responses were made", n)
		}
		if !high.Load() {
			t.Error("the total is high, but OnHigh was not called")
		}
		if held, kept := made.Load()*int64(answer), testkit.Heap()-before; kept > held*5/4 {
			t.Errorf("%d MiB in memory for responses of %d MiB", kept>>20, held>>20)
		}
	})
}
