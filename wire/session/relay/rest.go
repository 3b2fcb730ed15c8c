package relay

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// answersMethod is the method of a socket by which a process says that it answers what no hook of
// the connection does.
const answersMethod = "answers"

// AnswerRest has answer be asked what the far side asks and no hook of the connection answers,
// while this process is the only one of those that has a call in flight.
func (r *Client) AnswerRest(ctx context.Context, answer func(context.Context, dialect.Request) (json.RawMessage, error)) error {
	r.AnswerBy(rest(answer))
	_, err := r.Call(ctx, answersMethod, nil)
	if wire.AsFault(err) == nil { // another version of rpcx may not know the method
		return nil
	}
	return err
}

// rest answers requests of the far side that no hook answers.
type rest func(context.Context, dialect.Request) (json.RawMessage, error)

func (answer rest) Accept(dialect.Caller) dialect.Handler { return answer }

func (answer rest) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	return answer(ctx, dialect.Request{Method: in.Msg.Method, Params: in.Msg.Params, ID: in.Msg.ID, Notification: in.Msg.Kind != wire.Request})
}

func (answer rest) Failure() error { return nil }

func (answer rest) Close() error { return nil }
