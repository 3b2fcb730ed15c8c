package inbox

import (
	"context"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session/relay"
)

// A Request contains the params of an inbox method, or the call that inbox.next returns, in the form that `session next`
// prints.
type Request struct {
	ID      int64           `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Lease   time.Duration   `json:"lease,omitempty"` // in nanoseconds
	Value   json.RawMessage `json:"value,omitempty"`
	Code    json.RawMessage `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
}

// Methods returns the inbox's methods, for the socket of a session. meaning replaces an error that the end of the
// session has caused by the reason for that end.
func (b *Inbox) Methods(meaning func(error) error) map[string]relay.Method {
	return map[string]relay.Method{
		"inbox.next": method(func(ctx context.Context, h *relay.Process, r Request) (json.RawMessage, error) {
			p, err := b.claim(ctx, h, r.Method)
			if err != nil {
				return nil, meaning(err)
			}
			if ctx.Err() != nil { // the process ended before it could receive the call
				b.Release(h)
				return nil, ctx.Err()
			}
			return scan.JSON(Request{ID: p.id, Method: p.method, Params: p.params}), nil
		}),
		"inbox.took": method(func(_ context.Context, h *relay.Process, r Request) (json.RawMessage, error) {
			return nil, b.acknowledge(h, r.ID, r.Lease)
		}),
		"inbox.reply": method(func(_ context.Context, _ *relay.Process, r Request) (json.RawMessage, error) {
			return nil, b.reply(r.ID, parkedAnswer{result: r.Value})
		}),
		"inbox.reject": method(func(_ context.Context, _ *relay.Process, r Request) (json.RawMessage, error) {
			return nil, b.reply(r.ID, parkedAnswer{err: &wire.Error{Code: r.Code, Message: r.Message, Data: r.Value}})
		}),
	}
}

// method returns a Method that decodes its params as a Request and calls do.
func method(do func(context.Context, *relay.Process, Request) (json.RawMessage, error)) relay.Method {
	return func(ctx context.Context, h *relay.Process, in *dialect.Inbound) (json.RawMessage, error) {
		var r Request
		if err := json.Unmarshal(in.Msg.Params, &r); err != nil {
			return nil, wire.Usagef("invalid inbox request: %v", err)
		}
		return do(ctx, h, r)
	}
}
