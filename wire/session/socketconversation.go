package session

import (
	"context"
	"fmt"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/peer"
	"rpcx/wire/session/relay"
)

// openSocket returns the conversation behind e.Socket, and offers the functions of this process to it.
func openSocket(ctx context.Context, e endpoint.Endpoint, o Options) (_ *relay.Client, err error) {
	if err := o.onlyFunctions(e); err != nil {
		return nil, err
	}
	r := o.Reached
	if r == nil {
		if r, err = relay.Dial(ctx, e); err != nil {
			return nil, err
		}
	}
	r.ShowTo(o.Tap)
	r.TellWork(o.Hook.Working)
	o.Transport.Watch.Tell(wire.Fact{Step: "session", Text: fmt.Sprintf("%s: process %d has the connection; rpcx uses its socket %s", e, r.PID(), e.Socket)})
	if o.Tap != nil && o.Note != nil {
		o.Note(peer.Note{Kind: peer.NoteDetail, Text: fmt.Sprintf("another process sends for %s: only messages to this command are shown", e)})
	}
	if len(o.Hooks) > 0 {
		err = answerFunctions(r, e, o)
	}
	return r, err
}

// onlyFunctions returns a usage Fault for hooks that are not function values, because other hooks belong to the
// connection, which another process holds.
func (o Options) onlyFunctions(e endpoint.Endpoint) error {
	for _, h := range o.Hooks {
		if !o.Functions[h.Pattern] {
			f := wire.Usagef("hooks do not apply to %s: another process owns the connection", e)
			if e.Session != "" {
				f.Hint = "give --on when you open the session: rpcx connect ENDPOINT --session " + e.Session + " --on …"
			}
			return f
		}
	}
	return nil
}

// answerFunctions returns the responder for the functions of this process.
func answerFunctions(r *relay.Client, e endpoint.Endpoint, o Options) error {
	e.Dialect = all.Default() // of the socket
	s, err := newResponder(e.Spec(), e, o, false)
	if err != nil {
		return err
	}
	s.upstream = func(dialect.Caller) relay.Backend { return r }
	r.AnswerBy(s)
	return nil
}
