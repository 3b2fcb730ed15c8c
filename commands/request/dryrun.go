package request

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// DryRun prints the message for op in conv. A nil conv represents a new conversation with e.
func DryRun(ctx context.Context, conv session.Conversation, e endpoint.Endpoint, op dialect.Op) error {
	if op.Method == "" && op.Kind != dialect.Raw && op.Kind != dialect.Eval {
		return nil
	}
	m, err := Preview(ctx, conv, e, op)(op)
	if err != nil || m.Raw == nil {
		return err
	}
	return cmdline.Print(os.Stdout, string(scan.Compact(nil, m.Raw))+"\n")
}

// Preview returns a function that encodes messages and sends none. The messages have the ids that they would have in
// conv. If conv is nil, or a session with other users, the ids are as in a new conversation with e that starts with
// first. They follow the ids of the handshake.
func Preview(ctx context.Context, conv session.Conversation, e endpoint.Endpoint, first dialect.Op) func(dialect.Op) (wire.Message, error) {
	if p, ok := conv.(*session.Direct); ok {
		return func(op dialect.Op) (wire.Message, error) { return p.Preview(ctx, op) }
	}
	o := e.CodecOptions(wire.Options{})
	o.HandshakeDone = true
	o.Handshake.Own = func(context.Context) string { return first.Method }
	codec := e.Spec().NewCodec(o)
	can := codec.Abilities()
	if can.Handshake != nil {
		_ = can.Handshake(ctx, previewCaller{codec})
	}
	if can.Prepare != nil && first.Kind == dialect.Eval {
		_ = can.Prepare(ctx, previewCaller{codec}, first)
	}
	return codec.Encode
}

// previewCaller is a Caller that sends nothing. It encodes the messages of a handshake, because their ids precede those of
// the user's messages.
type previewCaller struct{ codec dialect.Codec }

var errPreview = errors.New("a dry run sends nothing")

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

// Outgoing returns the message in a user's line. It adds a missing "jsonrpc" if the dialect has that member. Its error
// is why the line is not a message.
func Outgoing(line []byte, dialect string) ([]byte, error) {
	if err := scan.Valid(line, wire.DefaultMaxDepth); err != nil {
		return nil, err
	}
	switch kind := scan.Type(line); {
	case kind != 'o' && kind != 'a':
		return nil, errors.New("a message must be an object, or an array of objects")
	case all.Named(dialect).JSONRPCMember:
		line = versioned(line)
	}
	return line, nil
}

// versioned adds a missing "jsonrpc" to each request, notification and response in msg.
func versioned(msg []byte) []byte {
	if scan.Type(msg) == 'a' {
		var a scan.Array
		for val := range scan.Elements(msg) {
			a.Add(versioned(val))
		}
		return a.End()
	}
	if scan.Type(msg) != 'o' || scan.Get(msg, "jsonrpc") != nil {
		return msg
	}
	for _, member := range []string{"method", "result", "error"} {
		if scan.Get(msg, member) != nil {
			return scan.Splice(msg, "jsonrpc", []byte(`"2.0"`))
		}
	}
	return msg
}
