package hook

import (
	"context"
	"errors"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// ParseOnOpen reads the ANSWER of --on-open, a command or a jq expression that runs for each connection. Errors are
// usage Faults.
func ParseOnOpen(s string) (*Answer, error) {
	a, err := ParseAnswer(s)
	if err != nil {
		return nil, inside("--on-open", err)
	}
	switch a.Kind {
	case Sh, Text, Lines, JQ:
		return &a, nil
	}
	f := usage("--on-open: %q has no effect, because there is no call to answer", s)
	f.Hint = "--on-open takes a command, or jq: with rpc or notify"
	return nil, f
}

// onOpen is the name of the --on-open hook in warnings.
var onOpen = &chain{pattern: "--on-open"}

// Open runs the hook of Options.OnOpen when the connection is ready. It does nothing on a connection that is a single
// exchange.
func (b *ConnectionHooks) Open() {
	a := b.t.o.OnOpen
	if a == nil || b.binding.SingleExchange {
		return
	}
	ctx, leave, err := b.enter(context.Background())
	if err != nil {
		return
	}
	go func() {
		defer leave()
		_, err := b.answer(ctx, onOpen, a, dialect.Request{Notification: true})
		var e *wire.Error
		switch {
		case ctx.Err() != nil:
		case err == errNotMine:
			b.warn(onOpen, "", "ended with status %d", exNotMine)
		case errors.As(err, &e):
			b.noteFailed(onOpen, dialect.Request{}, err)
		}
	}()
}
