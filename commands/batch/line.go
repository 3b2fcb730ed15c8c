package batch

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// read parses the line of j. It sets the operation, the id, and bad if a peer would return an error for the line.
func (b *batch) read(ctx context.Context, j *job) {
	j.isRead = true
	if j.bad = j.parse(b.spec.Params.Scalar); j.bad != nil {
		return
	}
	j.bad = b.types.check(ctx, j.op.Method, j.op.Params)
	request.Style(b.spec, b.Params, &j.op)
}

// lineMembers are the members of a line. If a member is repeated, the first one counts.
type lineMembers struct{ id, method, params, notify []byte }

// membersOf returns the members of a line, or an error if the line is not a JSON object.
func membersOf(line []byte) (m lineMembers, err error) {
	members := scan.ReadObject(line, wire.DefaultMaxDepth)
	for key, val, ok := members.Next(); ok; key, val, ok = members.Next() {
		switch {
		case m.id == nil && scan.IsKey(key, "id"):
			m.id = val
		case m.method == nil && scan.IsKey(key, "method"):
			m.method = val
		case m.params == nil && scan.IsKey(key, "params"):
			m.params = val
		case m.notify == nil && scan.IsKey(key, "notify"):
			m.notify = val
		}
	}
	return m, members.Err()
}

// parse parses a line without the peer's catalog. With scalar, params may be any value.
func (j *job) parse(scalar bool) error {
	m, err := membersOf(j.line)
	if err != nil {
		return wire.Errorf(wire.CodeParse, "line %d is not a JSON object", j.n)
	}
	if m.id != nil {
		j.id = m.id
	}
	if m.method == nil {
		return wire.Errorf(wire.CodeInvalidRequest, `line %d has no "method"`, j.n)
	}
	name, ok := scan.Text(m.method)
	if !ok {
		return wire.Errorf(wire.CodeInvalidRequest, `line %d: "method" is not a string`, j.n)
	}
	j.op.Method, j.op.Params = name, m.params
	switch string(m.notify) {
	case "", "false":
	case "true":
		j.op.Kind = dialect.Notify
	default:
		return wire.Errorf(wire.CodeInvalidRequest, `line %d: "notify" is neither true nor false`, j.n)
	}
	if t := scan.Type(m.params); m.params != nil && t != 'o' && t != 'a' && !scalar {
		return wire.Errorf(wire.CodeInvalidRequest, `line %d: "params" is neither an object nor an array`, j.n)
	}
	return nil
}

// dryRun prints the message of each line with the ids of a real run.
func (b *batch) dryRun(ctx context.Context) error {
	var preview func(dialect.Op) (wire.Message, error)
	var refused error
	if b.lines == nil {
		b.lines = env.NewLines(ctx)
	}
	err := b.lines.Each(func(n int64, line []byte) error {
		j := &job{}
		j.set(n, line)
		b.read(ctx, j)
		op, err := j.op, j.bad
		if wire.AsFault(err) != nil {
			return err
		}
		if err != nil {
			text := wire.AsError(err).Message
			if !strings.HasPrefix(text, "line ") {
				text = fmt.Sprintf("line %d: %s", n, text)
			}
			b.Env.Console.Warn(text)
			refused = wire.NewFault(wire.Usage, "some lines are not valid", nil)
			return nil
		}
		if preview == nil {
			preview = request.Preview(ctx, b.conv, b.Endpoint, op)
		}
		m, err := preview(op)
		if err != nil {
			return err
		}
		return cmdline.Print(os.Stdout, string(m.Raw)+"\n")
	})
	return cmp.Or(err, refused)
}
