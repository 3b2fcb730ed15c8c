package peer_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// leaving is a handler that takes a second for each notification, and for a request runs until its context ends.
type leaving struct{ handled, ended []string }

func (l *leaving) Close() error { return nil }

func (l *leaving) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	if in.Msg.Kind == wire.Request {
		<-ctx.Done()
		l.ended = append(l.ended, in.Msg.Method)
		return nil, ctx.Err()
	}
	select {
	case <-time.After(time.Second):
		l.handled = append(l.handled, in.Msg.Method)
	case <-ctx.Done():
		l.ended = append(l.ended, in.Msg.Method)
	}
	return nil, nil
}

// Notifications that arrived before the end are handled. Requests are not, because the peer cannot read a response. Close ends both.
func TestCloseOfThePeer(t *testing.T) {
	for name, ours := range map[string]bool{"theirs": false, "ours": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := transport.Pair()
				l := &leaving{}
				p := peer.New(here, jsonrpc.NewCodec(jsonrpc.Options{Version: jsonrpc.V2}), peer.Options{
					Handler: func(dialect.Caller) dialect.Handler { return dialect.Handler{Handle: l.Handle, Close: l.Close} },
				})
				for _, msg := range []string{
					`{"jsonrpc":"2.0","id":1,"method":"asked"}`,
					`{"jsonrpc":"2.0","method":"one"}`, `{"jsonrpc":"2.0","method":"two"}`,
				} {
					testkit.OK(t, there.Send([]byte(msg)))
				}
				synctest.Wait()
				there.Close()
				synctest.Wait()
				if len(l.ended) != 1 || l.ended[0] != "asked" {
					t.Errorf("after the peer closed, the handlers %q had ended", l.ended)
				}
				if ours {
					p.Close()
				}
				<-p.Done()
				if want := map[bool]int{false: 2, true: 0}[ours]; len(l.handled) != want {
					t.Errorf("the notifications %q were handled", l.handled)
				}
				testkit.OK(t, p.Err())
			})
		})
	}
}

// A cancelled subscription waits, within bounds, for the name of its stream, because rpcx cannot unsubscribe without the name.
func TestCancellingBeforeTheResponse(t *testing.T) {
	for name, answers := range map[string]bool{"the peer responds": true, "the peer does not respond": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := transport.Pair()
				p := peer.New(here, jsonrpc.NewCodec(jsonrpc.Options{Version: jsonrpc.V2}), peer.Options{})
				st := testkit.Start(t, p, dialect.Subscribe, "x_subscribe", "")
				var got []string
				go func() {
					for {
						msg, err := there.Recv()
						if err != nil {
							return
						}
						got = append(got, string(msg))
						if len(got) == 1 && answers {
							time.Sleep(time.Second)
							there.Send([]byte(`{"jsonrpc":"2.0","id":1,"result":"s"}`))
						}
					}
				}()
				synctest.Wait()
				since := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				st.Cancel(ctx)
				took := time.Since(since)
				p.Close()
				synctest.Wait()
				want := `{"jsonrpc":"2.0","id":2,"method":"x_unsubscribe","params":["s"]}`
				switch {
				case answers && (took != time.Second || len(got) != 2 || got[1] != want):
					t.Errorf("Cancel took %v, and the peer received %q", took, got)
				case !answers && (took != 3*time.Second || len(got) != 1):
					t.Errorf("Cancel took %v, and the peer received %q", took, got)
				}
			})
		})
	}
}
