package validate

import (
	"context"
	"errors"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/request"
	"rpcx/commands/server"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// checkClient serves on LISTEN and checks the clients that connect against the rules of the dialect. It ends with the
// command after --. Without a command, it ends when the first client has disconnected.
func (o *validateOptions) checkClient(ctx context.Context, r *outcome) error {
	run := r.run
	e, command, err := o.listenArgs(ctx, r)
	if err != nil {
		return err
	}
	if r.target.Stdout() && command == nil && o.client.Conn.Listen.File == "" {
		return run.Line.Usage("the report and the line with the listen address would both go to stdout").
			WithHint("write one of them to a file: --report " + string(o.report.Form) + "=FILE, or --listening FILE")
	}
	r.suite("rpcx validate --role client " + e.String())
	j := &peerChecker{o: o, r: r, run: run, endpoint: e}
	if err := j.newWatch(); err != nil {
		return err
	}
	if err := j.known(nil); err != nil {
		return err
	}
	serving := server.Options{Conn: o.client.Conn, Hooks: o.client.Hooks, Catalog: o.catalog, Runtime: o.runtime}
	so, err := serving.Session(ctx, run, e.Spec())
	if err != nil {
		return err
	}
	if err := j.tapeOf(e.String()); err != nil {
		return err
	}
	so.Record = j.record
	cl := env.NewDeadline(ctx, o.client.Time.Timeout.Or(0), 0)
	defer cl.Stop()
	served, stop := context.WithCancel(cl.Ctx)
	defer stop()
	if command == nil { // serving ends when the first client has disconnected
		so.Wrap = func(conn wire.Conn) wire.Conn {
			if _, post := conn.(wire.SingleExchange); post { // others follow it
				return conn
			}
			return &closeNotifier{conn, stop}
		}
	}
	s, err := session.Listen(cl.Ctx, e, so)
	if err != nil {
		return err
	}
	err = server.Run(served, run, s, command, o.client.Conn.Listen.File, o.client.Hooks.Strict)
	if cause := wire.AsFault(context.Cause(cl.Ctx)); cause != nil {
		err = errors.Join(err, cause)
	}
	err = errors.Join(err, j.watch.end(context.WithoutCancel(ctx), j))
	return r.write(j.sumClients(j.watch.connections(), err))
}

// listenArgs returns LISTEN and the command after --.
func (o *validateOptions) listenArgs(ctx context.Context, r *outcome) (endpoint.Endpoint, []string, error) {
	run := r.run
	if d := run.Line.Dash; d >= 0 && (d != 1 || len(run.Line.Args) == 1) || d < 0 && len(run.Line.Args) > 1 {
		return endpoint.Endpoint{}, nil, run.Line.Usage("--role client takes one LISTEN, and a command after --").
			WithHint("rpcx validate --role client LISTEN -- COMMAND")
	}
	if len(o.try) > 0 || o.trust || o.intrusive {
		return endpoint.Endpoint{}, nil, run.Line.Usage("--try, --trust-hints and --intrusive check servers; they do not apply to clients")
	}
	e, rest, err := request.Endpoint(ctx, run, o.client.Conn.Dialect)
	if len(rest) == 0 {
		rest = nil
	}
	return e, rest, err
}

// closeNotifier is a connection that reports its end: rpcx closes it when the client has disconnected and its requests
// are answered.
type closeNotifier struct {
	wire.Conn
	onClose func()
}

// Close ends the connection.
func (l *closeNotifier) Close() error {
	defer l.onClose()
	return l.Conn.Close()
}

// CloseWith closes the connection with a code, if its transport has codes.
func (l *closeNotifier) CloseWith(code int, reason string) error {
	defer l.onClose()
	return wire.CloseWith(l.Conn, code, reason)
}

// sumClients prints the number of clients. It returns a failure if a client broke a rule. That failure takes precedence
// over err, the status of the command.
func (j *peerChecker) sumClients(n int, err error) error {
	j.noteSkipped()
	switch own, ok := errors.AsType[cmdline.CommandStatus](err); {
	case n == 0 && wire.AsFault(err) == nil:
		j.r.add(report.Case{Name: "a client connects", Error: "no client connected"})
		return wire.NewFault(wire.Expectation, j.endpoint.String()+": no client connected", nil)
	case ok && j.r.count.failed > 0:
		j.run.Console.Note(own.Text)
		err = nil
	}
	checks := wire.Count(n, "client") + ", " + wire.Count(j.r.count.all, "rule")
	return errors.Join(err, j.r.verdict(j.endpoint.String(), checks, wire.AsFault(err) != nil))
}
