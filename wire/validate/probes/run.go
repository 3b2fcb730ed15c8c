package probes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// A Target is the peer that is probed.
type Target struct {
	// Shared is the open connection, after its handshake.
	Shared *Conn
	// Dial opens another connection, and performs the handshake if greeted is set. The caller must call close.
	Dial func(ctx context.Context, greeted bool) (c *Conn, close func(), err error)
	// AnswerTimeout bounds the wait for each answer.
	AnswerTimeout time.Duration
}

// A Result is the outcome of a probe.
type Result struct {
	Broken   string // what is wrong with the answer, or ""
	Sent     []byte // the message that was sent before the problem
	Got      []byte // the answer, or nil
	Error    error  // why the probe could not run, or nil
	Skipped  string // why the outcome proves nothing, or ""
	Duration time.Duration
}

// counter numbers the ids of probes, far above the ids of the connection's user.
var counter atomic.Int64

// Run runs the probe p. vars contains additional variables. It waits at most AnswerTimeout for each answer.
func (t *Target) Run(ctx context.Context, p *Probe, vars map[string]json.RawMessage) Result {
	started := time.Now()
	r := &run{t: t, vars: maps.Clone(vars)}
	for _, name := range []string{"id", "id2", "id3"} {
		wire.Put(&r.vars, name, strconv.AppendInt(nil, 7_000_000+counter.Add(1), 10))
	}
	if err := r.steps(ctx, p); err != errKnown {
		r.result.Error = err
	}
	r.close()
	r.result.Duration = time.Since(started)
	return r.result
}

// errKnown ends a probe whose result is known.
var errKnown = errors.New("the result is known")

// brokenf ends the probe, because the peer deviates from the specification.
func (r *run) brokenf(format string, args ...any) error {
	r.result.Broken = fmt.Sprintf(format, args...)
	return errKnown
}

// A run is the state of one probe.
type run struct {
	t      *Target
	vars   map[string]json.RawMessage
	conns  [2]*Conn
	cause  []byte // what a forbidden message follows: the latest message sent that awaits no answer, or else the first
	ends   []func()
	result Result
}

func (r *run) steps(ctx context.Context, p *Probe) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !p.Own && !p.Bare {
		r.conns[0] = r.t.Shared
		r.t.Shared.begin()
	}
	for i := range p.Steps {
		if err := r.step(ctx, p, &p.Steps[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) close() {
	for _, c := range r.conns {
		if c != nil {
			c.finish()
		}
	}
	for _, end := range r.ends {
		end()
	}
}

func (r *run) conn(ctx context.Context, p *Probe, s *Step) (*Conn, error) {
	if c := r.conns[s.On]; c != nil {
		return c, nil
	}
	c, end, err := r.t.Dial(ctx, !p.Bare)
	if end != nil {
		r.ends = append(r.ends, end)
	}
	if err != nil {
		return nil, err
	}
	c.begin()
	r.conns[s.On] = c
	return c, nil
}

func (r *run) step(ctx context.Context, p *Probe, s *Step) error {
	when, err := compile(s.When, r.vars)
	if err != nil || when != nil && !truth(ctx, when, []byte("null")) {
		return err
	}
	c, err := r.conn(ctx, p, s)
	if err != nil {
		return err
	}
	if s.Send != "" {
		msg, err := r.message(ctx, s)
		if err != nil {
			return err
		}
		if msg, err = c.completed(msg); err != nil {
			return err
		}
		r.result.Sent = msg
		if r.cause == nil || s.Await == "" {
			r.cause = msg
		}
		if err := c.Post(ctx, msg, s.Await != ""); err != nil {
			if s.Ends {
				return nil
			}
			return r.brokenf("the message could not be sent: %s", ending(err))
		}
	}
	if s.Await == "" {
		return nil
	}
	msg, err := r.await(ctx, c, s)
	if err != nil || msg == nil {
		return err
	}
	r.result.Got = msg
	return r.holds(ctx, s, msg)
}

// await returns the message that a step awaits. It returns nil if the connection has ended and the step allows that.
func (r *run) await(ctx context.Context, c *Conn, s *Step) ([]byte, error) {
	await, err := compile(s.Await, r.vars)
	if err != nil {
		return nil, err
	}
	never, err := compile(s.Never, r.vars)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, r.t.AnswerTimeout)
	defer cancel()
	var last []byte
	for {
		msg, err := c.next(bounded)
		if errors.Is(err, errReplied) && c.more() {
			continue
		}
		if err != nil {
			return nil, r.nothing(ctx, bounded, s, last, err)
		}
		if scan.Valid(msg, wire.DefaultMaxDepth) != nil {
			r.result.Got = msg
			return nil, r.brokenf("the response is not JSON")
		}
		last = msg
		if never != nil && truth(ctx, never, msg) {
			r.result.Got, r.result.Sent = msg, r.cause
			return nil, r.brokenf("the peer sent this message")
		}
		if truth(ctx, await, msg) {
			return msg, r.rest(bounded, c, never)
		}
	}
}

// rest reads the remaining messages of running exchanges and looks for forbidden ones. Over HTTP, the answer to a later
// message may arrive first.
func (r *run) rest(ctx context.Context, c *Conn, never *jq.Program) error {
	for never != nil && c.more() {
		msg, err := c.next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && scan.Valid(msg, wire.DefaultMaxDepth) == nil && truth(ctx, never, msg):
			r.result.Got, r.result.Sent = msg, r.cause
			return r.brokenf("the peer sent this message")
		}
	}
	return nil
}

// nothing returns the error for a missing answer, or nil if the step does not need one.
func (r *run) nothing(ctx, bounded context.Context, s *Step, last []byte, err error) error {
	r.result.Got = last
	instead := ""
	if last != nil {
		instead = "; this was the last message"
	}
	var closed *wire.CloseError
	over := errors.Is(err, io.EOF) || errors.As(err, &closed)
	fault := wire.AsFault(err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case fault != nil && fault.Unreached:
		return err
	case over && s.Ends:
		return nil
	case s.Needed: // the probe proves nothing
		r.result.Skipped = "the peer did not answer a call"
		return errKnown
	case bounded.Err() != nil:
		return r.brokenf("no response arrived within %v%s", r.t.AnswerTimeout, instead)
	case over:
		return r.brokenf("%s, without a response%s", strings.TrimSuffix(ending(err), " without a response"), instead)
	}
	return r.brokenf("%s%s", ending(err), instead)
}

func (r *run) holds(ctx context.Context, s *Step, msg []byte) error {
	if s.Holds != "" {
		p, err := compile(s.Holds, r.vars)
		if err != nil {
			return err
		}
		if ok, err := p.Holds(ctx, msg); err != nil || !ok {
			return r.brokenf("the peer sent a different response")
		}
	}
	for name, program := range s.Keep {
		p, err := compile(program, r.vars)
		if err != nil {
			return err
		}
		out, _ := p.First(ctx, msg)
		r.vars[name] = scan.OrNull(out)
	}
	return nil
}
