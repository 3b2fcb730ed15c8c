package request

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// DryRun prints the message that would be sent for op, with the ids that it
// would have after the greeting.
func DryRun(e endpoint.Endpoint, op dialect.Op) error {
	if op.Method == "" && op.Kind != dialect.Raw {
		return nil // nothing would be sent
	}
	m, err := Greeted(e, op.Method).Encode(op)
	if err != nil || m.Raw == nil {
		return err
	}
	return cmdline.Print(os.Stdout, string(scan.Compact(nil, m.Raw))+"\n")
}

// Greeted returns a codec for a conversation with e in which the greeting has used up its
// ids. The method that is called first takes its place in the greeting where it is a part
// of that.
func Greeted(e endpoint.Endpoint, first string) dialect.Codec {
	o := e.CodecOptions(wire.Options{})
	o.Greeted = true
	o.Handshake.Own = func(context.Context) string { return first }
	codec := e.Spec().NewCodec(o)
	if g, ok := codec.(dialect.Greeter); ok {
		_ = g.Greet(context.Background(), unsent{codec})
	}
	return codec
}

// unsent is a Caller that sends nothing, but makes the messages of a greeting,
// so that their ids are used up.
type unsent struct{ codec dialect.Codec }

var errUnsent = errors.New("nothing is sent")

func (u unsent) Open(_ context.Context, op dialect.Op) (dialect.Stream, error) {
	return nil, u.Notify(context.Background(), op)
}

func (u unsent) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return nil, u.Notify(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
}

func (u unsent) Notify(_ context.Context, op dialect.Op) error {
	if _, err := u.codec.Encode(op); err != nil {
		return err
	}
	return errUnsent
}

func (u unsent) CloseWith(int, string) error { return nil }
