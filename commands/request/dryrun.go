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
	"rpcx/wire/session"
)

// DryRun prints the message that would be sent for op in conv; nil is a conversation with e that
// is not open.
func DryRun(ctx context.Context, conv session.Conversation, e endpoint.Endpoint, op dialect.Op) error {
	if op.Method == "" && op.Kind != dialect.Raw && op.Kind != dialect.Eval {
		return nil // nothing would be sent
	}
	m, err := Preview(ctx, conv, e, op)(op)
	if err != nil || m.Raw == nil {
		return err
	}
	return cmdline.Print(os.Stdout, string(scan.Compact(nil, m.Raw))+"\n")
}

// Preview returns a function that makes messages and sends none. They have the ids that they would have in conv. Where conv is
// nil, or a session, in which others take ids too, they have those of a conversation with e in which first is sent first: the
// greeting has used up its ids, but for what first says of it.
func Preview(ctx context.Context, conv session.Conversation, e endpoint.Endpoint, first dialect.Op) func(dialect.Op) (wire.Message, error) {
	if p, ok := conv.(session.Previewer); ok {
		return func(op dialect.Op) (wire.Message, error) { return p.Preview(ctx, op) }
	}
	o := e.CodecOptions(wire.Options{})
	o.Greeted = true
	o.Handshake.Own = func(context.Context) string { return first.Method }
	codec := e.Spec().NewCodec(o)
	can := codec.Abilities()
	if can.Greet != nil {
		_ = can.Greet(ctx, previewCaller{codec})
	}
	if can.Prepare != nil && first.Kind == dialect.Eval {
		_ = can.Prepare(ctx, previewCaller{codec}, first)
	}
	return codec.Encode
}

// previewCaller is a Caller that sends nothing, but makes the messages of a greeting,
// so that their ids are used up.
type previewCaller struct{ codec dialect.Codec }

var errPreview = errors.New("nothing is sent")

func (u previewCaller) Open(_ context.Context, op dialect.Op) (dialect.Stream, error) {
	return nil, u.Notify(context.Background(), op)
}

func (u previewCaller) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return nil, u.Notify(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
}

func (u previewCaller) Notify(_ context.Context, op dialect.Op) error {
	if _, err := u.codec.Encode(op); err != nil {
		return err
	}
	return errPreview
}

func (u previewCaller) CallOp(ctx context.Context, op dialect.Op) (json.RawMessage, error) {
	return nil, u.Notify(ctx, op)
}

func (u previewCaller) Connection() *dialect.Connection {
	return &dialect.Connection{Codec: u.codec}
}

func (u previewCaller) CloseWith(int, string) error { return nil }
