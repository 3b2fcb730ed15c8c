package commands

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/session"
)

func runStatus(ctx context.Context, a *app, o *keepOptions) error {
	print, err := a.printer(session.Endpoint{}, &o.out, format.Options{})
	if err != nil {
		return err
	}
	cl := newDeadline(ctx, o.time.timeout.or(0), 0)
	defer cl.stop()
	c, err := a.attach(cl.ctx, o.session.status)
	if err != nil {
		return cause(cl.ctx, err)
	}
	defer c.Detach()
	status, err := c.Status(cl.ctx)
	if err != nil {
		return cause(cl.ctx, err)
	}
	return printValues(ctx, print, status)
}

// printValues prints values of our own, each as a line.
func printValues(ctx context.Context, print *format.Pipeline, values ...json.RawMessage) error {
	for _, v := range values {
		stop, err := print.Print(ctx, wire.Message{Raw: v}, wire.Event{Kind: wire.Data, Data: v})
		if err != nil {
			return errors.Join(err, print.Flush())
		}
		if stop {
			break
		}
	}
	return print.Finish()
}

func runList(ctx context.Context, a *app, o *keepOptions) error {
	all, err := session.List(ctx)
	if err != nil {
		return cause(ctx, err)
	}
	if o.out.forPeople(a) && !o.out.pretty {
		rows := [][]string{{"SESSION", "STATE", "DIALECT", "AGE", "ENDPOINT"}}
		for _, s := range all {
			age := ""
			if s.Started != "" { // it says how it is
				age = time.Duration(s.Age * float64(time.Second)).Round(time.Second).String()
			}
			rows = append(rows, []string{"@" + s.Name, s.State, s.Dialect, age, format.CleanLine(s.Endpoint)})
		}
		return say(os.Stdout, format.Table(rows, a.out.Width, a.out.Color))
	}
	print, err := a.printer(session.Endpoint{}, &o.out, format.Options{})
	if err != nil {
		return err
	}
	lines := make([]json.RawMessage, 0, len(all))
	for _, s := range all {
		lines = append(lines, s.JSON())
	}
	return printValues(ctx, print, lines...)
}

func runClose(ctx context.Context, a *app, o *keepOptions) error {
	cl := newDeadline(ctx, o.time.timeout.or(0), 0)
	defer cl.stop()
	return a.closeSession(cl.ctx, o.session.close)
}

func (a *app) closeSession(ctx context.Context, name string) error {
	c, err := a.attach(ctx, name)
	if err == nil {
		defer c.Detach()
		err = c.End(ctx)
	}
	return cause(ctx, err)
}

func runCloseAll(ctx context.Context, a *app, o *keepOptions) error {
	cl := newDeadline(ctx, o.time.timeout.or(0), 0)
	defer cl.stop()
	all, err := session.List(cl.ctx)
	if err != nil {
		return cause(cl.ctx, err)
	}
	errs := make([]error, len(all))
	var closing sync.WaitGroup
	for i, s := range all {
		closing.Go(func() { errs[i] = a.closeSession(cl.ctx, s.Name) })
	}
	closing.Wait()
	errs = slices.DeleteFunc(errs, session.IsAbsent) // it ended meanwhile
	return errors.Join(errs...)
}
