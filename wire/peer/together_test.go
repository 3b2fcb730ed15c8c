package peer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
)

// readahead is a connection on which all messages arrive at once.
type readahead struct {
	msgs   [][]byte
	answer func(n int) // called with the number of sent responses
	closed chan struct{}

	mu   sync.Mutex
	sent int
}

func (r *readahead) Recv() ([]byte, error) {
	if msg := r.Buffered(nil, 1); len(msg) > 0 {
		return msg[0], nil
	}
	<-r.closed
	return nil, io.EOF
}

func (r *readahead) Buffered(msgs [][]byte, most int) [][]byte {
	n := min(len(r.msgs), most-len(msgs))
	msgs, r.msgs = append(msgs, r.msgs[:n]...), r.msgs[n:]
	return msgs
}

func (r *readahead) Send([]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent++
	r.answer(r.sent)
	return nil
}

func (r *readahead) Close() error { return nil }

// Messages that are read together are recorded together and in order, before they have an effect. A Tap gets each message when it
// is handled.
func TestMessagesReadTogetherAreRecordedFirst(t *testing.T) {
	const n = 700 // more than are routed at a time
	for _, tapped := range []bool{false, true} {
		t.Run(fmt.Sprintf("tapped %v", tapped), func(t *testing.T) {
			var msgs [][]byte
			for i := range n {
				msgs = append(msgs, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"m"}`, i))
			}
			all := make(chan struct{})
			conn := &readahead{msgs: slices.Clone(msgs), closed: make(chan struct{})}
			conn.answer = func(sent int) {
				if sent == n {
					close(all)
				}
			}
			var mu sync.Mutex
			var recorded, seen []string
			came, most := 0, 0
			o := peer.Options{Handler: func(dialect.Caller) dialect.Handler { return dialect.Handler{Handle: nuller{}.Handle} }}
			o.Record = func(d wire.Direction, msg []byte, more ...[]byte) {
				mu.Lock()
				defer mu.Unlock()
				if d == wire.Send {
					var m struct{ ID int }
					if err := json.Unmarshal(msg, &m); err != nil || m.ID >= came {
						t.Errorf("%s is recorded after %d requests, %v", msg, came, err)
					}
					return
				}
				came, most = came+1+len(more), max(most, 1+len(more))
				recorded = append(recorded, string(msg))
				for _, msg := range more {
					recorded = append(recorded, string(msg))
				}
			}
			if tapped {
				o.Tap = func(d wire.Direction, msg []byte) {
					mu.Lock()
					defer mu.Unlock()
					if d == wire.Recv {
						seen = append(seen, string(msg))
					}
				}
			}
			p := peer.New(conn, jsonrpc.NewCodec(jsonrpc.Options{}), o)
			<-all
			close(conn.closed)
			p.Close()
			for i, msg := range msgs {
				if i >= len(recorded) || recorded[i] != string(msg) || tapped && (i >= len(seen) || seen[i] != string(msg)) {
					t.Fatalf("message %d is missing or out of order", i)
				}
			}
			if len(recorded) != n || (most > 1) == tapped {
				t.Errorf("%d messages, at most %d recorded together", len(recorded), most)
			}
		})
	}
}

// A nuller answers requests with null.
type nuller struct{}

func (nuller) Handle(context.Context, *dialect.Inbound) (json.RawMessage, error) {
	return json.RawMessage("null"), nil
}
