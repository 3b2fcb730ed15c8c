// Package daemon runs a session: a conversation in a process of its own, with a ring of the latest notifications and an
// inbox of parked calls. A Control manages such a session.
package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/redact"
	"rpcx/wire/session"
	"rpcx/wire/session/daemon/inbox"
	"rpcx/wire/session/relay"
	"rpcx/wire/session/rundir"
)

// HostOptions configures a session (rpcx-sessions(7)).
type HostOptions struct {
	Name               string
	Version            string          // the version of this program; a command of another version refuses the session
	IdleExit           time.Duration   // the session ends when no command has used it for this time; 0 means never
	Subscribe          []dialect.Op    // the subscriptions whose items go to the ring
	FirstAnswerTimeout time.Duration   // limits the wait for the response to each subscription before the session is live; 0 means no limit
	InboxTimeout       time.Duration   // how long a call stays parked; 0 means as long as the peer waits
	InboxDefault       json.RawMessage // the response to a call that was parked for InboxTimeout; if nil, an error
	Fingerprint        string          // distinguishes sessions with other options: a hash of the endpoint, the dialect and the hooks
	Answers            cache.Source    // where responses come from; commands need it for caching
	Log                func() []string // returns the latest log lines; may be nil
	Live               func()          // called when the session is live
}

// A host is a session, in the process that owns its connection.
type host struct {
	options HostOptions
	e       endpoint.Endpoint
	hooks   []string // the names that hooks answer
	path    string
	sock    *relay.Socket
	ring    *ring
	inbox   *inbox.Inbox
	traffic traffic
	started time.Time
	lastErr atomic.Pointer[string] // the last failure, or nil

	life  context.Context // ends with the caller's context, or with errClosed when the session is closed
	end   context.CancelCauseFunc
	ended atomic.Pointer[wire.Fault] // why the session ended, for the commands that are waiting; nil before the end

	live          chan struct{} // closed when the session has been opened or opening it has failed
	failed        error         // why opening failed; valid when live is closed
	conv          *session.Direct
	subscriptions []dialect.Stream // the session's subscriptions, which fill the ring
	subs          sync.WaitGroup
}

// Host runs a session until it is closed, ctx ends, no command has used it for IdleExit, its socket is removed, or the
// connection to the peer ends. It returns a Conflict if the name is taken. Otherwise it returns why the session ended,
// or nil if it was closed. Later commands for the session report the same reason.
func Host(ctx context.Context, e endpoint.Endpoint, o session.Options, k HostOptions) error {
	h := &host{
		options: k, e: e, ring: newRing(), inbox: inbox.New(k.InboxTimeout, k.InboxDefault),
		started: time.Now(), live: make(chan struct{}),
	}
	l, path, err := rundir.Claim(k.Name)
	if err != nil {
		return err
	}
	file, err := os.Lstat(path)
	if err != nil {
		_ = l.Close()
		return err
	}
	h.life, h.end = context.WithCancelCause(ctx)
	defer h.end(nil)
	h.path = path
	h.hooks = wire.Map(o.Hooks, func(e hook.Entry) string { return e.Pattern })
	h.sock = relay.New(&relay.Functions{}, relay.ServerOptions{Upstream: h.upstream, Session: h, Methods: h.methods(), Path: path, Listener: l})
	h.sock.Serve()
	var why error
	defer func() { h.shutdown(file, why) }()
	if err = h.open(h.life, o); err == nil {
		err = h.probation(h.life)
	}
	if err != nil {
		cause := context.Cause(h.life)
		if errors.Is(cause, errClosed) {
			err = wire.NewFault(wire.Closed, fmt.Sprintf("session %s was closed while it was being opened", k.Name), nil)
		} else if f := wire.AsFault(cause); f != nil {
			err = f
		}
		h.failed = err
		close(h.live)
		return err
	}
	rundir.ForgetExit(path)
	close(h.live)
	if k.Live != nil {
		k.Live()
	}
	if why = h.watch(file); errors.Is(why, errClosed) {
		why = nil
	}
	if why != nil {
		rundir.RecordExit(path, redact.Known(why.Error()))
	}
	return why
}

// open connects to the peer and starts the subscriptions.
func (h *host) open(ctx context.Context, o session.Options) error {
	o.Shared = &session.Shared{Notified: h.ring.add, Reserve: h.inbox.Reserve, Functions: h.sock.Functions}
	o.Hook.Session, o.Hook.Park, o.Hook.Working = h.options.Name, h.inbox.Park, h.sock.Working
	o.Messages = h.traffic.count
	failure := o.Hook.OnFailure
	o.Hook.OnFailure = func(method string, err error) {
		h.noteError(err)
		if failure != nil {
			failure(method, err)
		}
	}
	if o.Reconnect != nil {
		r, next := *o.Reconnect, o.Reconnect.Lost
		r.Lost = func(why error) {
			h.noteError(why)
			h.ring.add(session.LossGap()) // at once, before any message of the next connection can arrive
			if next != nil {
				next(why)
			}
		}
		o.Reconnect = &r
	}
	conv, err := session.OpenDirect(ctx, h.e, o)
	if err != nil {
		return err
	}
	h.conv = conv
	for _, op := range h.options.Subscribe {
		if err := h.subscribe(ctx, op); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) noteError(err error) { h.lastErr.Store(new(redact.Known(err.Error()))) }

// subscribe opens a subscription of the session and returns after the peer's response. For watched code there is no
// such response. Its items go to the ring, in order with all other messages.
func (h *host) subscribe(ctx context.Context, op dialect.Op) error {
	var endReported atomic.Bool // whether the end of the subscription is already in the ring
	op.Items = func(m wire.Message) {
		endReported.Store(m.Final)
		h.ring.add(m)
	}
	st, err := h.conv.Open(ctx, op)
	if err != nil {
		return err
	}
	m := wire.Message{Kind: wire.Response}
	if !all.Named(h.conv.Dialect()).Evaluation.IsLive() {
		m, err = h.answer(ctx, st, op.Method)
	}
	switch {
	case err != nil:
		return err
	case m.Err != nil:
		return &wire.Fault{
			Kind: wire.RPCError, Method: op.Method, RPC: m.Err.Clone(), Retryable: m.Err.Retryable,
			Message: fmt.Sprintf("%s: %s", op.Method, m.Err.Error()),
		}
	}
	h.subscriptions = append(h.subscriptions, st)
	h.subs.Go(func() { h.attend(st, m, op.Method, &endReported) })
	return nil
}

func (h *host) answer(ctx context.Context, st dialect.Stream, method string) (wire.Message, error) {
	if h.options.FirstAnswerTimeout <= 0 {
		return st.Next(ctx)
	}
	late := &wire.Fault{
		Kind: wire.Timeout, Method: method, Message: fmt.Sprintf("no response to %s within %v", method, h.options.FirstAnswerTimeout),
		Hint: "--timeout changes the limit",
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.options.FirstAnswerTimeout, late)
	defer cancel()
	m, err := st.Next(ctx)
	if err != nil && context.Cause(ctx) == error(late) {
		err = late
	}
	return m, err
}

// attend adds to the ring those messages of a subscription that are not items, and its end. m is the first message.
func (h *host) attend(st dialect.Stream, m wire.Message, method string, endReported *atomic.Bool) {
	defer wire.Guard()
	var err error
	for ; err == nil; m, err = st.Next(context.Background()) {
		opens := m.Kind == wire.Response && m.Err == nil && !m.Final
		if opens || m.Event != nil && m.Event.Kind == wire.Gap { // Reconnect.Lost has already added the gap
			continue
		}
		endReported.Store(m.Final)
		h.ring.add(m.Clone())
	}
	end := &wire.Event{Kind: wire.Done}
	if err != io.EOF {
		h.noteError(err)
		end = &wire.Event{Kind: wire.Failure, Err: wire.NewError(wire.CodeServer, err.Error())}
	}
	if !endReported.Load() && h.ended.Load() == nil {
		h.ring.add(wire.Message{Kind: wire.Item, Method: method, Event: end})
	}
}
