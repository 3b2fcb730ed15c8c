package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

func runNext(ctx context.Context, a *env.Env, o *Options) error {
	print, err := options.NewPrinter(a, endpoint.Endpoint{}, &o.Out, format.Options{})
	if err != nil {
		return err
	}
	c, cl, err := attachFirst(ctx, a, o)
	if err != nil {
		return err
	}
	defer cl.Stop()
	defer c.Detach()
	if o.Session.waitFor > 0 {
		end := time.AfterFunc(time.Duration(o.Session.waitFor), func() {
			cl.Cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("no call was parked within %v (--for)", time.Duration(o.Session.waitFor)), nil))
		})
		defer end.Stop()
	}
	err = c.Next(cl.Ctx, o.Session.method, o.Session.lease.Or(defaultLease), func(line json.RawMessage) error {
		return printValues(cl.Ctx, print, line)
	})
	return env.Cause(cl.Ctx, err)
}

// parkedID reads the ID of --reply and --reject.
func parkedID(flag, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, wire.NewFault(wire.Usage, fmt.Sprintf("%s: %q is no ID: it is the \"id\" that --next has printed", flag, text), nil)
	}
	return id, nil
}

func runReply(ctx context.Context, a *env.Env, o *Options) error {
	text, value, _ := strings.Cut(o.Session.reply, "=")
	id, err := parkedID("--reply", text)
	if err != nil {
		return err
	}
	raw := []byte(value)
	if value == "-" {
		if raw, err = env.ReadStdin(ctx); err != nil {
			return err
		}
	}
	raw = env.TrimBlank(raw)
	if err := scan.Valid(raw, wire.DefaultMaxDepth); err != nil {
		return wire.NewFault(wire.Usage, "--reply: the value is no JSON: "+err.Error(), err)
	}
	c, cl, err := attachFirst(ctx, a, o)
	if err != nil {
		return err
	}
	defer cl.Stop()
	defer c.Detach()
	return env.Cause(cl.Ctx, c.Reply(cl.Ctx, id, raw))
}

func runReject(ctx context.Context, a *env.Env, o *Options) error {
	words := strings.SplitN(o.Session.reject, "=", 3)
	id, err := parkedID("--reject", words[0])
	if err != nil {
		return err
	}
	if _, err := strconv.ParseInt(words[1], 10, 64); err != nil {
		return wire.NewFault(wire.Usage, fmt.Sprintf("--reject: the code %q is no whole number", words[1]), nil)
	}
	c, cl, err := attachFirst(ctx, a, o)
	if err != nil {
		return err
	}
	defer cl.Stop()
	defer c.Detach()
	return env.Cause(cl.Ctx, c.Reject(cl.Ctx, id, &wire.Error{Code: json.RawMessage(words[1]), Message: words[2]}))
}
