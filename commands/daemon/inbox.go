package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session/daemon"
)

func runNext(ctx context.Context, run *env.Env, o *verbOptions) error {
	print, err := options.NewPrinter(run, endpoint.Endpoint{}, &o.out, format.Options{})
	if err != nil {
		return err
	}
	return withInbox(ctx, run, o, func(cl *env.Deadline, c *daemon.Control) error {
		if o.waitFor > 0 {
			time.AfterFunc(time.Duration(o.waitFor), func() {
				cl.Cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("no call within %v (--for)", time.Duration(o.waitFor)), nil))
			})
		}
		return c.Next(cl.Ctx, o.method, o.lease.Or(defaultLease), func(line json.RawMessage) error {
			return printValues(cl.Ctx, print, line)
		})
	})
}

// parkedID parses the ID argument of reply and reject.
func parkedID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, wire.NewFault(wire.Usage, fmt.Sprintf("%q is not an ID: use the \"id\" that session next prints", text), nil)
	}
	return id, nil
}

func runReply(ctx context.Context, run *env.Env, o *verbOptions) error {
	id, err := parkedID(run.Line.Args[1])
	if err != nil {
		return err
	}
	raw := []byte(run.Line.Args[2])
	if string(raw) == "-" {
		if raw, err = env.ReadStdin(ctx); err != nil {
			return err
		}
	}
	raw = env.TrimBlank(raw)
	if err := scan.Valid(raw, wire.DefaultMaxDepth); err != nil {
		return wire.NewFault(wire.Usage, "the VALUE is not valid JSON: "+err.Error(), err)
	}
	return withInbox(ctx, run, o, func(cl *env.Deadline, c *daemon.Control) error {
		return c.Reply(cl.Ctx, id, raw)
	})
}

func runReject(ctx context.Context, run *env.Env, o *verbOptions) error {
	code, text := run.Line.Args[2], run.Line.Args[3]
	id, err := parkedID(run.Line.Args[1])
	if err != nil {
		return err
	}
	if _, err := strconv.ParseInt(code, 10, 64); err != nil {
		return wire.NewFault(wire.Usage, fmt.Sprintf("the CODE %q is not a whole number", code), nil)
	}
	return withInbox(ctx, run, o, func(cl *env.Deadline, c *daemon.Control) error {
		return c.Reject(cl.Ctx, id, &wire.Error{Code: json.RawMessage(code), Message: text})
	})
}
