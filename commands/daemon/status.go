package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
	"rpcx/wire/scan"
	"rpcx/wire/session/daemon"
	"rpcx/wire/session/rundir"
)

func runStatus(ctx context.Context, run *env.Env, o *verbOptions) error {
	return printStatus(ctx, run, o, func(status json.RawMessage) []json.RawMessage { return []json.RawMessage{status} })
}

// runLog prints the lines of the session's log.
func runLog(ctx context.Context, run *env.Env, o *verbOptions) error {
	return printStatus(ctx, run, o, func(status json.RawMessage) []json.RawMessage {
		return scan.List(scan.Get(status, "log"))
	})
}

// printStatus requests the status of a session and prints the values from choose, one per line.
func printStatus(ctx context.Context, run *env.Env, o *verbOptions, choose func(status json.RawMessage) []json.RawMessage) error {
	print, err := options.NewPrinter(run, endpoint.Endpoint{}, &o.out)
	if err != nil {
		return err
	}
	return withSession(ctx, run, o, func(cl *env.Deadline, c *daemon.Control) error {
		status, err := c.Status(cl.Ctx)
		if err != nil {
			return err
		}
		return printValues(ctx, print, choose(status)...)
	})
}

func printValues(ctx context.Context, print *format.Pipeline, values ...json.RawMessage) error {
	for _, v := range values {
		stop, err := print.Print(ctx, &wire.Message{Raw: v}, &wire.Event{Kind: wire.Data, Data: v})
		if err != nil {
			return errors.Join(err, print.Flush())
		}
		if stop {
			break
		}
	}
	return print.Finish()
}

func runList(ctx context.Context, run *env.Env, o *verbOptions) error {
	cl := env.NewDeadline(ctx, o.time.Timeout.Or(0), 0)
	defer cl.Stop()
	all, err := daemon.List(cl.Ctx)
	if err != nil {
		return env.Cause(cl.Ctx, err)
	}
	for _, line := range rundir.Killed() {
		run.Console.Note(line)
	}
	all = append(all, profiles(run)...)
	if o.out.ForPeople(run) && !o.out.Pretty {
		return cmdline.Print(os.Stdout, format.Table(rows(all), run.Stdout.Width, run.Stdout.Color))
	}
	print, err := options.NewPrinter(run, endpoint.Endpoint{}, &o.out)
	if err != nil {
		return err
	}
	return printValues(ctx, print, wire.Map(all, daemon.Status.JSON)...)
}

// rows returns the table of list.
func rows(all []daemon.Status) [][]string {
	rows := [][]string{{"SESSION", "STATE", "DIALECT", "AGE", "ENDPOINT"}}
	for _, s := range all {
		age := ""
		if s.Started != "" { // it is a session, which has responded
			age = time.Duration(s.Age * float64(time.Second)).Round(time.Second).String()
		}
		rows = append(rows, []string{"@" + s.Name, s.State, s.Dialect, age, format.CleanLine(s.Endpoint)})
	}
	return rows
}

// profiles returns the profiles for list. The endpoint is "" before its variables are set. It only warns about an
// unusable file, because list also shows sessions.
func profiles(run *env.Env) (lines []daemon.Status) {
	all, err := profile.List()
	if err != nil {
		run.Console.Warn(err.Error())
	}
	for _, p := range all {
		l := daemon.Status{Name: p.Name, Dialect: p.Dialect, State: "profile"}
		if e, err := endpoint.Parse(p.Endpoint, p.Dialect); err == nil {
			l.Endpoint, l.Dialect = e.String(), e.Dialect
		}
		lines = append(lines, l)
	}
	return lines
}

func runClose(ctx context.Context, run *env.Env, o *verbOptions) error {
	end := func(cl *env.Deadline, c *daemon.Control) error {
		jobs, err := c.End(cl.Ctx)
		for _, job := range jobs {
			run.Console.Note("the job " + format.CleanLine(job) + " was still running and was cancelled")
		}
		return err
	}
	if !o.closeAll {
		return withSession(ctx, run, o, end)
	}
	cl := env.NewDeadline(ctx, o.time.Timeout.Or(0), 0)
	defer cl.Stop()
	all, err := daemon.List(cl.Ctx)
	if err != nil {
		return env.Cause(cl.Ctx, err)
	}
	errs := make([]error, len(all))
	var closing sync.WaitGroup
	for i, s := range all {
		closing.Go(func() { errs[i] = attached(cl, s.Name, end) })
	}
	closing.Wait()
	errs = slices.DeleteFunc(errs, rundir.IsAbsent) // a session that has ended in the meantime is not an error
	return errors.Join(errs...)
}

func runNext(ctx context.Context, run *env.Env, o *verbOptions) error {
	print, err := options.NewPrinter(run, endpoint.Endpoint{}, &o.out)
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

// callID parses the ID argument of reply and reject.
func callID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, wire.NewFault(wire.Usage, fmt.Sprintf("%q is not an ID: use the \"id\" that session next prints", text), nil)
	}
	return id, nil
}

func runReply(ctx context.Context, run *env.Env, o *verbOptions) error {
	id, err := callID(run.Line.Args[1])
	if err != nil {
		return err
	}
	raw := []byte(run.Line.Args[2])
	if string(raw) == "-" {
		if raw, err = env.ReadStdin(ctx); err != nil {
			return err
		}
	}
	raw = scan.Trim(raw)
	if err := scan.Valid(raw, wire.DefaultMaxDepth); err != nil {
		return wire.NewFault(wire.Usage, "VALUE is not valid JSON: "+err.Error(), err)
	}
	return withInbox(ctx, run, o, func(cl *env.Deadline, c *daemon.Control) error {
		return c.Reply(cl.Ctx, id, raw)
	})
}

func runReject(ctx context.Context, run *env.Env, o *verbOptions) error {
	code, text := run.Line.Args[2], run.Line.Args[3]
	id, err := callID(run.Line.Args[1])
	if err != nil {
		return err
	}
	if _, err := strconv.ParseInt(code, 10, 64); err != nil {
		return wire.NewFault(wire.Usage, fmt.Sprintf("CODE %q is not a whole number", code), nil)
	}
	return withInbox(ctx, run, o, func(cl *env.Deadline, c *daemon.Control) error {
		return c.Reject(cl.Ctx, id, &wire.Error{Code: json.RawMessage(code), Message: text})
	})
}
