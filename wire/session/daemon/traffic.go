package daemon

import (
	"sync/atomic"

	"rpcx/wire"
)

// traffic counts the messages on the connection, for the session's status.
type traffic [2]way // by direction

// way is one direction.
type way struct{ messages, bytes atomic.Int64 }

// count counts messages. It is a wire.Record.
func (t *traffic) count(d wire.Direction, msg []byte, more ...[]byte) {
	w := &t[d]
	size := len(msg)
	for _, msg := range more {
		size += len(msg)
	}
	w.messages.Add(1 + int64(len(more)))
	w.bytes.Add(int64(size))
}

func (w *way) status() wayStatus { return wayStatus{w.messages.Load(), w.bytes.Load()} }
