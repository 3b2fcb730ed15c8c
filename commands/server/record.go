package server

import (
	"context"
	"errors"
	"slices"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// RecordOptions are the flags of rpcx record.
type RecordOptions struct {
	Conn   options.Connection
	Record options.Record
	To     string
}

// Flags returns the flags of the command.
func (o *RecordOptions) Flags(run *env.Env) []*cmdline.Flag {
	flags := []*cmdline.Flag{
		cmdline.Text(cmdline.GroupRecord, "to", "", "forward messages to and from `ENDPOINT`", &o.To),
		o.Conn.Login.UseFlag(),
	}
	return slices.Concat(flags, o.Record.RecordFlags(), o.Conn.Flags(), run.Common.Flags())
}

// RunRecord forwards and records messages between the clients of listen and the endpoint to. The flags apply to both sides, except those
// for messages to the peer. The peer's profile applies only to the peer.
func RunRecord(ctx context.Context, run *env.Env, o *RecordOptions, listen, to endpoint.Endpoint, command []string) error {
	bind, err := o.Conn.Listener().Config(ctx, run)
	if err != nil {
		return err
	}
	if err := applyBetween(run, listen, to); err != nil {
		return err
	}
	conn, err := o.Conn.Config(ctx, run)
	if err != nil {
		return err
	}
	so := session.Options{Transport: conn, Tap: options.Tap(run), Await: o.Conn.Await(run)}
	so.Hook.Warn = run.Console.Warn
	if so.Record, err = o.Record.Open(run, to.String(), to.Dialect, true); err != nil {
		return err
	}
	t, err := session.ListenTap(ctx, listen, to, so, bind)
	if err != nil {
		return err
	}
	return Serve(ctx, t, command, o.Conn.Listen.File)
}

// A Listener listens and serves its clients.
type Listener interface {
	listener
	Serve(ctx context.Context) error
}

// Serve serves until the command, stdio or a signal ends it. It writes the address to the file listening or, without a
// file and a command, to stdout. If the peer is a child on stdio, rpcx exits with the child's status.
func Serve(ctx context.Context, t Listener, command []string, listening string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return untilEnd(ctx, t, func() error { return childStatus(t.Serve(ctx)) }, command, listening, func() {})
}

// childStatus converts a child's status to one of this process.
func childStatus(err error) error {
	switch closed, ok := errors.AsType[*wire.CloseError](err); {
	case !ok:
		return err
	case closed.Child != nil && closed.Child.Exit > 0:
		return cmdline.CommandStatus{Code: closed.Child.Exit, Text: closed.Child.String()}
	case closed.Child != nil && closed.Child.Exit < 0 && !closed.Clean:
		return wire.NewFault(wire.Closed, closed.Error(), closed)
	}
	return nil
}
