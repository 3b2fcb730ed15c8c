package relay

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// answersMethod is the socket's method with which a process offers to answer requests without a hook.
const answersMethod = "answers"

// AnswerFallback makes answer handle the peer's requests without a hook, as long as this process is the only one with a
// fallback that has a call in flight. Another version of rpcx may not know this method; then nothing happens.
func (r *Client) AnswerFallback(ctx context.Context, answer func(context.Context, dialect.Request) (json.RawMessage, error)) error {
	r.AnswerBy(fallbackAnswerer(answer))
	_, err := r.Call(ctx, answersMethod, nil)
	if wire.AsFault(err) == nil { // an error that is not a Fault: that process does not know the method
		return nil
	}
	return err
}

// A fallbackAnswerer answers requests of the peer without a hook.
type fallbackAnswerer func(context.Context, dialect.Request) (json.RawMessage, error)

func (answer fallbackAnswerer) Accept(dialect.Caller) dialect.Handler {
	return dialect.Handler{Handle: answer.handle}
}

func (answer fallbackAnswerer) handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	return answer(ctx, dialect.Request{Method: in.Msg.Method, Params: in.Msg.Params, ID: in.Msg.ID, Notification: in.Msg.Kind != wire.Request})
}

func (answer fallbackAnswerer) Failure() error { return nil }

func (answer fallbackAnswerer) Close() error { return nil }
