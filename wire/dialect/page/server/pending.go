package server

import (
	"context"
	"encoding/json"

	"rpcx/wire/dialect"
)

// pending answers a request of the peer. If our own call, within which it was asked, is cancelled
// first, the answer is the page's answer for that case.
func (h *handler) pending(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	if h.Codec == nil {
		return h.answer(ctx, in)
	}
	ctx, p := h.Codec.Pend(ctx, &in.Msg)
	result, err := h.answer(ctx, in)
	if p == nil {
		return result, err
	}
	if settled := h.Codec.Settle(p); settled != nil {
		return settled, nil
	}
	return result, err
}
