package a2a

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A task implements dialect.Caller for its hook. The hook cannot call the client, because a task has no connection to
// it.

// Open fails, because a task cannot call its client.
func (*task) Open(context.Context, dialect.Op) (dialect.Stream, error) { return nil, errNoCalls() }

// Call fails, as Open does.
func (*task) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNoCalls()
}

// CallOp fails, as Open does.
func (*task) CallOp(context.Context, dialect.Op) (json.RawMessage, error) { return nil, errNoCalls() }

func errNoCalls() error {
	return wire.NewError(wire.CodeNoMethod, "a hook cannot call the client of an agent: print a status, such as {\"state\":\"input_required\",\"text\":\"which one?\"}")
}

// Notify does nothing.
func (*task) Notify(context.Context, dialect.Op) error { return nil }

// CloseWith cancels the task.
func (t *task) CloseWith(int, string) error {
	t.cancel()
	return nil
}

// Connection describes the task as a connection.
func (t *task) Connection() *dialect.Connection { return &t.about }
