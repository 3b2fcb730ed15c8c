package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// id returns the id of the answer: that of the line, else the number of the
// line.
func (j *job) id() []byte {
	if scan.Valid(j.line, wire.DefaultMaxDepth) == nil && scan.Type(j.line) == 'o' {
		if given := scan.Get(j.line, "id"); given != nil {
			return given
		}
	}
	return strconv.AppendInt(nil, j.number, 10)
}

// read parses a line. The error is one as a peer would answer it.
func (b *batch) read(ctx context.Context, j *job) (op dialect.Op, err error) {
	if err := scan.Valid(j.line, wire.DefaultMaxDepth); err != nil || scan.Type(j.line) != 'o' {
		return op, wire.Errorf(wire.CodeParse, "line %d is no JSON object", j.number)
	}
	method, ok := scan.Text(scan.Get(j.line, "method"))
	if !ok {
		return op, wire.Errorf(wire.CodeInvalidRequest, `line %d has no "method"`, j.number)
	}
	op = dialect.Op{Kind: dialect.Call, Method: method, Params: scan.Get(j.line, "params")}
	switch notify := scan.Get(j.line, "notify"); string(notify) {
	case "", "false":
	case "true":
		op.Kind = dialect.Notify
	default:
		return op, wire.Errorf(wire.CodeInvalidRequest, `line %d: "notify" is neither true nor false`, j.number)
	}
	if t := scan.Type(op.Params); op.Params != nil && t != 'o' && t != 'a' && !b.spec.ScalarParams {
		return op, wire.Errorf(wire.CodeInvalidRequest, `line %d: "params" is neither an object nor an array`, j.number)
	}
	err = b.types.check(ctx, method, op.Params)
	request.Style(b.spec, b.o.Params, &op)
	return op, err
}

// answerLine returns {"id":ID,MEMBER:VALUE} on one line.
func answerLine(id []byte, member string, value json.RawMessage) json.RawMessage {
	if value == nil {
		value = json.RawMessage("null")
	}
	var line scan.Object
	line.Add("id", id)
	line.Compact(member, value)
	return line.End()
}

// dryRun prints the message of each line.
func (b *batch) dryRun(ctx context.Context, e endpoint.Endpoint) error {
	codec := e.Spec().NewCodec(e.CodecOptions(wire.Options{}))
	var refused error
	err := env.EachLine(ctx, func(n int64, line []byte) error {
		op, err := b.read(ctx, &job{number: n, line: line})
		if wire.AsFault(err) != nil {
			return err
		}
		if err != nil {
			text := wire.AsError(err).Message
			if !strings.HasPrefix(text, "line ") {
				text = fmt.Sprintf("line %d: %s", n, text)
			}
			b.env.Console.Warn(text)
			refused = wire.NewFault(wire.Usage, "some lines would not be sent", nil)
			return nil
		}
		m, err := codec.Encode(op)
		if err != nil {
			return err
		}
		return cmdline.Print(os.Stdout, string(m.Raw)+"\n")
	})
	if err == nil {
		err = refused
	}
	return err
}
