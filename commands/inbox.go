package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

func runNext(ctx context.Context, a *app, o *keepOptions) error {
	print, err := a.printer(session.Endpoint{}, &o.out, format.Options{})
	if err != nil {
		return err
	}
	c, cl, err := a.attachFirst(ctx, o)
	if err != nil {
		return err
	}
	defer cl.stop()
	defer c.Detach()
	if o.session.waitFor > 0 {
		end := time.AfterFunc(time.Duration(o.session.waitFor), func() {
			cl.cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("no call was parked within %v (--for)", time.Duration(o.session.waitFor)), nil))
		})
		defer end.Stop()
	}
	err = c.Next(cl.ctx, o.session.method, o.session.lease.or(defaultLease), func(line json.RawMessage) error {
		return printValues(cl.ctx, print, line)
	})
	return cause(cl.ctx, err)
}

// parkedID reads the ID of --reply and --reject.
func parkedID(flag, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, wire.NewFault(wire.Usage, fmt.Sprintf("%s: %q is no ID: it is the \"id\" that --next has printed", flag, text), nil)
	}
	return id, nil
}

func runReply(ctx context.Context, a *app, o *keepOptions) error {
	text, value, _ := strings.Cut(o.session.reply, "=")
	id, err := parkedID("--reply", text)
	if err != nil {
		return err
	}
	raw := []byte(value)
	if value == "-" {
		if raw, err = readStdin(ctx); err != nil {
			return err
		}
	}
	raw = trimBlank(raw)
	if err := scan.Valid(raw, wire.DefaultMaxDepth); err != nil {
		return wire.NewFault(wire.Usage, "--reply: the value is no JSON: "+err.Error(), err)
	}
	c, cl, err := a.attachFirst(ctx, o)
	if err != nil {
		return err
	}
	defer cl.stop()
	defer c.Detach()
	return cause(cl.ctx, c.Reply(cl.ctx, id, raw))
}

func runReject(ctx context.Context, a *app, o *keepOptions) error {
	words := strings.SplitN(o.session.reject, "=", 3)
	id, err := parkedID("--reject", words[0])
	if err != nil {
		return err
	}
	if _, err := strconv.ParseInt(words[1], 10, 64); err != nil {
		return wire.NewFault(wire.Usage, fmt.Sprintf("--reject: the code %q is no whole number", words[1]), nil)
	}
	c, cl, err := a.attachFirst(ctx, o)
	if err != nil {
		return err
	}
	defer cl.stop()
	defer c.Detach()
	return cause(cl.ctx, c.Reject(cl.ctx, id, &wire.Error{Code: json.RawMessage(words[1]), Message: words[2]}))
}
