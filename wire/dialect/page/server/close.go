package server

import (
	"context"
	"slices"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// closes reports whether a message of the client is the last of its connection.
func (h *handler) closes(in *dialect.Inbound) bool {
	return h.Serving && in.Msg.Err == nil && slices.Contains(h.d.Page.Serve.Close, in.Msg.Method)
}

// closing bounds how long the connection is kept open for answers that are owed.
const closing = 2 * time.Second

// close ends the connection once the earlier requests are answered.
func (h *handler) close() {
	go func() {
		defer wire.Guard()
		if settle := h.Caller.Connection().Settle; settle != nil {
			ctx, cancel := context.WithTimeout(context.Background(), closing)
			_ = settle(ctx)
			cancel()
		}
		const normal = 1000
		_ = h.Caller.CloseWith(normal, "")
	}()
}
