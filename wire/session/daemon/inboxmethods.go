package daemon

import (
	"context"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/session/relay"
)

// inboxRequest holds the params of the inbox's methods.
type inboxRequest struct {
	ID      int64           `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Lease   time.Duration   `json:"lease,omitempty"` // nanoseconds
	Value   json.RawMessage `json:"value,omitempty"`
	Code    json.RawMessage `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
}

func readInbox(in *dialect.Inbound) (r inboxRequest, err error) {
	if err := json.Unmarshal(in.Msg.Params, &r); err != nil {
		return r, wire.Usagef("the inbox does not understand: %v", err)
	}
	return r, nil
}

func (h *host) inboxNext(ctx context.Context, s *relay.Process, in *dialect.Inbound) (json.RawMessage, error) {
	r, err := readInbox(in)
	if err != nil {
		return nil, err
	}
	p, err := h.inbox.claim(ctx, s, r.Method)
	if err != nil {
		return nil, h.socket().Meaning(err)
	}
	if ctx.Err() != nil { // the process went while it got the call
		h.inbox.release(s)
		return nil, ctx.Err()
	}
	return p.line(), nil
}

func (h *host) inboxTook(_ context.Context, s *relay.Process, in *dialect.Inbound) (json.RawMessage, error) {
	r, err := readInbox(in)
	if err == nil {
		err = h.inbox.acknowledge(s, r.ID, r.Lease)
	}
	return nil, err
}

func (h *host) inboxReply(_ context.Context, _ *relay.Process, in *dialect.Inbound) (json.RawMessage, error) {
	r, err := readInbox(in)
	if err == nil {
		err = h.inbox.reply(r.ID, parkedAnswer{result: r.Value})
	}
	return nil, err
}

func (h *host) inboxReject(_ context.Context, _ *relay.Process, in *dialect.Inbound) (json.RawMessage, error) {
	r, err := readInbox(in)
	if err == nil {
		err = h.inbox.reply(r.ID, parkedAnswer{err: &wire.Error{Code: r.Code, Message: r.Message, Data: r.Value}})
	}
	return nil, err
}
