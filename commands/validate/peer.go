package validate

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/peer"
	"rpcx/wire/session"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/validate/declared"
	"rpcx/wire/validate/probes"
)

// defaultAnswerTimeout bounds the wait for a response from the peer.
const defaultAnswerTimeout = 5 * time.Second

// A peerChecker checks a live peer against its dialect's rules and its own catalog.
type peerChecker struct {
	o        *validateOptions
	r        *outcome
	run      *env.Env
	endpoint endpoint.Endpoint
	session  session.Options
	shape    dialect.Shape
	patience time.Duration
	record   *recorder.Recorder
	watch    *watch

	waiting    atomic.Pointer[env.Deadline] // the deadline, which each message from the peer extends
	catalog    *catalog.Catalog             // the peer's catalog, or nil
	declared   *declared.Checker            // of catalog
	calls      []call                       // the methods to call, see tries
	probeError error                        // why a probe could not be made, or nil

	conv   *session.Direct                         // the conversation that checks share
	shared *probes.Conn                            // its connection
	facts  map[string][]map[string]json.RawMessage // the variables of each run of a probe, by probes.Probe.For
}

// live checks the peer that the command line names: its messages with its dialect's rules, its responses to probes, and
// its results with its catalog.
func (o *validateOptions) live(ctx context.Context, r *outcome, args []string) error {
	if len(args) > 1 {
		return r.run.Line.Usage("validate checks one peer at a time, not %d", len(args))
	}
	cl := env.NewDeadline(ctx, o.client.Time.Timeout.Or(0), 0) // --idle limits each probe
	defer cl.Stop()
	j, err := o.newPeerChecker(cl.Ctx, r)
	if err != nil {
		return err
	}
	return r.write(j.sum(env.Cause(cl.Ctx, j.all(cl.Ctx))))
}

// newPeerChecker prepares the check of the peer that the command line names.
func (o *validateOptions) newPeerChecker(ctx context.Context, r *outcome) (*peerChecker, error) {
	e, _, err := request.Endpoint(ctx, r.run, o.client.Conn.Dialect)
	if err != nil {
		return nil, err
	}
	if e.Socket != "" {
		return nil, r.run.Line.Usage("%s is already connected, but checking its peer needs new connections", e).
			WithHint("name the endpoint of the peer instead")
	}
	r.suite("rpcx validate " + e.String())
	j := &peerChecker{o: o, r: r, run: r.run, endpoint: e, patience: time.Duration(o.client.Time.Idle)}
	if j.patience <= 0 {
		j.patience = defaultAnswerTimeout
	}
	if j.shape, err = all.ShapeOf(e.Dialect); err != nil {
		return nil, err
	}
	r.run.OnMessage = func() {
		if cl := j.waiting.Load(); cl != nil {
			cl.Touch()
		}
	}
	c := &o.client
	if j.calls, err = o.given(e.Spec().Params.Functions); err != nil {
		return nil, err
	}
	c.Hooks.Functions = map[string]bool{}
	for _, call := range j.calls {
		for _, name := range call.funcs {
			c.Hooks.Functions[name] = true
		}
	}
	if j.session, err = options.ForSession(ctx, r.run, &c.Conn, &c.Hooks); err != nil {
		return nil, err
	}
	if err := c.Handshake.Apply(r.run, &j.endpoint, &j.session); err != nil {
		return nil, err
	}
	if !r.run.Common.Verbose {
		j.session.Note = func(n peer.Note) {
			if n.Kind == peer.NoteEvent {
				r.run.Console.Event(*n.Event)
			}
		}
	}
	if err := j.newWatch(); err != nil {
		return nil, err
	}
	return j, j.tapeOf(e.String())
}

// all makes all checks, starting with those that share a connection.
func (j *peerChecker) all(ctx context.Context) error {
	set, err := probes.For(j.endpoint.Dialect)
	if err != nil {
		return err
	}
	if err := j.known(set.Probes); err != nil {
		return err
	}
	if len(set.Probes) == 0 {
		j.skip("the probes", j.endpoint.Dialect+" has none")
	}
	end, err := j.open(ctx)
	if err == nil { // the connection is shared
		if err = j.declares(ctx, set.Discovery); err == nil {
			err = j.tries(ctx)
		}
		if err == nil {
			err = j.probe(ctx, set.Probes, func(p *probes.Probe) bool { return !p.Own && !p.Bare })
		}
		end()
	}
	if err == nil {
		err = j.probe(ctx, set.Probes, func(p *probes.Probe) bool { return p.Own || p.Bare })
	}
	return errors.Join(err, j.watch.end(context.WithoutCancel(ctx), j))
}

// known returns an error if --disable names something that is neither a rule nor a probe.
func (j *peerChecker) known(set []probes.Probe) error {
	names := wire.Map(set, func(p probes.Probe) string { return p.Name })
	names = append(names, wire.Map(declared.Rules, func(r declared.Rule) string { return r.Name })...)
	if j.watch.check != nil {
		names = append(names, namesOf(j.watch.check.set)...)
	}
	return known(j.o.disable, names, func(name string) *wire.Fault {
		return j.run.Line.Usage("--disable: %s has no rule or probe %q", j.endpoint.Dialect, name)
	})
}

// open connects and performs the handshake. end sends the closing messages and closes the connection.
func (j *peerChecker) open(ctx context.Context) (end func(), err error) {
	so, got, done := j.wrapped()
	last := j.conv
	err = request.WaitReached(ctx, j.run, func() (err error) {
		j.conv, err = session.OpenDirect(ctx, j.endpoint, so)
		return err
	})
	if err != nil {
		j.conv = last // which the end function of the previous open closes
		done()
		return nil, err
	}
	j.shared = got()
	j.shared.CommonParams = j.conv.CommonParams
	return sync.OnceFunc(func() { _ = j.conv.Close(); done() }), nil
}

// wrapped returns the options of a connection that probes also use. got returns that connection once it is open. done
// ends its recording.
func (j *peerChecker) wrapped() (so session.Options, got func() *probes.Conn, done func()) {
	so = j.session
	shown := so.Tap
	so.Tap = nil
	rec := j.record.Conn(tape.Open{Endpoint: j.endpoint.String()}, false)
	done = func() { rec.Ended(wire.Send, nil) }
	if so.Transport.Noise = rec.Noise(so.Transport.Noise); len(j.endpoint.Address.Command) == 0 {
		so.Transport.NoiseLimit = -so.Transport.NoiseLimit
		so.Transport.Noise = func(line []byte) { // an invalid line is recorded as if it were a message
			rec.Message(wire.Recv, []byte(strings.ToValidUTF8(string(line), "\ufffd")))
			j.session.Transport.Noise(line)
		}
	}
	so.Transport.Exchanged = session.Exchanged(rec)
	var c *probes.Conn
	so.Wrap = func(conn wire.Conn) wire.Conn {
		c = probes.NewConn(conn, j.shape, func(d wire.Direction, msg []byte) {
			rec.Message(d, msg)
			if shown != nil {
				shown(d, msg)
			}
		})
		return c.User()
	}
	return so, func() *probes.Conn { return c }, done
}

// dial opens another connection for a probe.
func (j *peerChecker) dial(ctx context.Context, withHandshake bool) (*probes.Conn, func(), error) {
	so, got, done := j.wrapped()
	if withHandshake {
		conv, err := session.OpenDirect(ctx, j.endpoint, so)
		if err != nil {
			done()
			return nil, nil, err
		}
		got().CommonParams = conv.CommonParams
		return got(), func() { _ = conv.Close(); done() }, nil
	}
	conn, closeAll, err := session.DialMessages(ctx, j.endpoint, so)
	if err != nil {
		done()
		return nil, nil, err
	}
	received := got().Listen()
	return got(), func() {
		_ = conn.Close()
		closeAll()
		<-received
		done()
	}, nil
}
