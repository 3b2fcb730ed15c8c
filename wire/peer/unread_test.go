package peer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/transport"
)

// The unread responses to a peer that sends many requests are bounded by the limit of one connection, or by less if all connections
// together exceed their limit.
func TestUnreadAnswersOfOneClientAreBounded(t *testing.T) {
	const answer, asked = 1 << 20, 120
	for _, c := range []struct {
		name   string
		budget *peer.Budget
		most   int64
		array  bool
	}{{"alone", nil, 20, false}, {"with a common limit", &peer.Budget{Most: 4 << 20}, 8, false}, {"in an array", nil, 70, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := transport.Pair()
				defer far.Close()
				turn := make(chan struct{}, 1)
				turn <- struct{}{}
				var made atomic.Int64
				p := newPeer(t, near, peer.Options{Budget: c.budget, Handler: with(func(ctx context.Context, _ *dialect.Inbound) (json.RawMessage, error) {
					room := dialect.FlowControlOf(ctx)
					for <-turn; !room.Free(); <-turn { // like a request that waits for a slot
						turn <- struct{}{}
						if err := room.Await(); err != nil {
							return nil, err
						}
					}
					defer func() { turn <- struct{}{} }()
					made.Add(1)
					return json.RawMessage(`"` + strings.Repeat("x", answer) + `"`), nil
				})})
				go func() {
					requests := make([]string, asked)
					for i := range requests {
						requests[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, i)
						if !c.array && far.Send([]byte(requests[i])) != nil {
							return
						}
					}
					if c.array {
						far.Send([]byte("[" + strings.Join(requests, ",") + "]"))
					}
				}()
				synctest.Wait()
				if n := made.Load(); n > c.most {
					t.Errorf("%d responses were made", n)
				}
				if c.array {
					if m, err := far.Recv(); err != nil || len(m) > 80<<20 || strings.Count(string(m), `"id":`) != asked {
						t.Errorf("the array has %d bytes, error %v", len(m), err)
					}
					return
				}
				for range asked { // no response is lost
					if m, err := far.Recv(); err != nil || len(m) < answer {
						t.Fatal(string(m), err)
					}
				}
				p.Close()
			})
		})
	}
}

// awaitRoom waits until a response may be made.
func awaitRoom(ctx context.Context) error {
	room := dialect.FlowControlOf(ctx)
	for !room.Free() {
		if err := room.Await(); err != nil {
			return err
		}
	}
	return nil
}

// Responses that wait because of the common limit are sent when other connections release memory.
func TestWaitingForTheOthersEndsEachTime(t *testing.T) {
	const bound = 16 << 20
	synctest.Test(t, func(t *testing.T) {
		budget := &peer.Budget{Most: bound}
		made := map[string]*atomic.Int64{}
		ask := map[string]func(bytes int){}
		read := map[string]func(){}
		for _, name := range []string{"one", "other"} {
			near, far := transport.Pair()
			defer far.Close()
			made[name] = new(atomic.Int64)
			p := newPeer(t, near, peer.Options{Budget: budget, Handler: with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
				if err := awaitRoom(ctx); err != nil {
					return nil, err
				}
				made[name].Add(1)
				n, _ := strconv.Atoi(string(in.Msg.Params[1 : len(in.Msg.Params)-1]))
				return json.RawMessage(`"` + strings.Repeat("x", n) + `"`), nil
			})})
			defer p.Close()
			id := 0
			ask[name] = func(bytes int) {
				id++
				if err := far.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"m","params":[%d]}`, id, bytes)); err != nil {
					t.Error(err)
				}
				synctest.Wait()
			}
			read[name] = func() {
				if _, err := far.Recv(); err != nil {
					t.Error(err)
				}
				synctest.Wait()
			}
		}
		ask["other"](1) // while it is being written, a response does not count
		for range 3 {
			ask["one"](1 << 20)
		}
		for round := range int64(3) {
			ask["other"](bound)
			ask["one"](1)
			if n := made["one"].Load(); n != 3+round {
				t.Fatalf("round %d: %d responses were made while the other connection exceeded the limit", round, n)
			}
			read["other"]()
			if n := made["one"].Load(); n != 4+round {
				t.Fatalf("round %d: %d responses were made after the other connection released memory", round, n)
			}
		}
	})
}
