package daemon

import (
	"sync/atomic"

	"rpcx/wire"
)

// traffic counts what went over the connection, for the session's status.
type traffic struct{ sent, received way }

// way is one direction.
type way struct{ messages, bytes atomic.Int64 }

// counted returns a tap that counts each message and then calls next, which may
// be nil.
func (t *traffic) counted(next wire.Tap) wire.Tap {
	return func(d wire.Direction, msg []byte) {
		w := &t.sent
		if d == wire.Recv {
			w = &t.received
		}
		w.messages.Add(1)
		w.bytes.Add(int64(len(msg)))
		if next != nil {
			next(d, msg)
		}
	}
}

func (w *way) status() wayStatus { return wayStatus{w.messages.Load(), w.bytes.Load()} }
