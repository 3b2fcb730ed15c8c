package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/session"
	"rpcx/wire/session/relay"
)

// An upstream is a connection to the peer that one or more clients use. The first call opens it.
type upstream struct {
	bridge *Bridge
	dial   chan struct{} // contains a value while connecting, so that there is never a second connection

	mu      sync.Mutex
	conv    session.Conversation
	clients map[*client]bool
	closed  bool
	answers []string // the methods that the client declared
}

// A client is one connection to the listener.
type client struct {
	caller dialect.Caller
	hooks  dialect.Responder // for requests from the peer that the client cannot answer
	calls  atomic.Int64
}

func newUpstream(b *Bridge) *upstream {
	return &upstream{bridge: b, dial: make(chan struct{}, 1), clients: map[*client]bool{}}
}

// declare sets the methods that the client answers. The handshake of the next connection declares them.
func (u *upstream) declare(answers []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answers = answers
}

func (u *upstream) declared() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.answers)
}

// answered returns the methods that the client or a hook answers.
func (u *upstream) answered() []string {
	names := u.declared()
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.clients { // all clients have the same policy
		for _, name := range u.bridge.hooks {
			if c.hooks.Allows(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		break
	}
	return names
}

func (u *upstream) join(c *client) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clients[c] = true
}

func (u *upstream) leave(c *client) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.clients, c)
}

// begin returns the connection for a call of c, and a function to call when the call has ended.
func (u *upstream) begin(ctx context.Context, c *client) (session.Conversation, func(), error) {
	open, single := u.get, u.bridge.single.Load()
	if single {
		open = u.open
	}
	conv, err := open(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.calls.Add(1)
	return conv, func() {
		if single {
			_ = conv.Close()
		}
		c.calls.Add(-1)
	}, nil
}

// get returns the current connection, or opens a new one. While another call opens one, get waits, until ctx ends.
func (u *upstream) get(ctx context.Context) (session.Conversation, error) {
	select {
	case u.dial <- struct{}{}:
		defer func() { <-u.dial }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	u.mu.Lock()
	conv, closed := u.conv, u.closed
	u.mu.Unlock()
	if closed {
		return nil, wire.NewFault(wire.Closed, "the bridge is closed", nil)
	}
	if conv != nil {
		return conv, nil
	}
	conv, err := u.open(ctx)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	u.conv, closed = conv, u.closed
	u.mu.Unlock()
	if closed {
		_ = conv.Close()
		return nil, wire.NewFault(wire.Closed, "the bridge is closed", nil)
	}
	go func() {
		<-conv.Done()
		u.ended(conv)
	}()
	return conv, nil
}

func (u *upstream) open(ctx context.Context) (session.Conversation, error) {
	o := u.bridge.options
	if u.bridge.to.Socket == "" { // the process that owns a socket has its own hooks; see AnswerFallback
		for _, name := range append(u.answered(), "*") { // the peer is informed of exact names only
			o.Hooks = append(o.Hooks, hook.Entry{Pattern: name, Answer: hook.Answer{Kind: hook.Inbox}})
		}
		o.Hook.Park = u.ask
	}
	conv, err := session.Open(ctx, u.bridge.to, o)
	if err != nil {
		return nil, err
	}
	if far, ok := conv.(*relay.Client); ok {
		if err := far.AnswerFallback(ctx, u.ask); err != nil {
			_ = conv.Close()
			return nil, err
		}
	}
	return conv, nil
}

// ended closes the connections of all clients when the connection to the peer is lost. The clients notice the loss that
// way.
func (u *upstream) ended(conv session.Conversation) {
	u.mu.Lock()
	if u.conv != conv {
		u.mu.Unlock()
		return
	}
	u.conv = nil
	all := slices.Collect(maps.Keys(u.clients))
	u.mu.Unlock()
	reason := "the peer closed the connection"
	if err := conv.Err(); err != nil {
		reason = err.Error()
	}
	_ = conv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), lastAnswers)
	defer cancel()
	for _, c := range all {
		if settle := c.caller.Connection().Settle; settle != nil {
			_ = settle(ctx) // pending calls must receive their responses first
		}
		_ = c.caller.CloseWith(goingAway, strings.ToValidUTF8(reason[:min(len(reason), 120)], ""))
	}
}

// lastAnswers is how long clients can still receive responses after the connection to the peer was lost.
const lastAnswers = 2 * time.Second

// goingAway is the WebSocket close code for an end that the client did not cause (RFC 6455, section 7.4.1).
const goingAway = 1001

// ask forwards a request or notification from the peer to the client that has a call pending. If no client can answer a request,
// a hook answers it.
func (u *upstream) ask(ctx context.Context, r dialect.Request) (json.RawMessage, error) {
	c, only := u.asked()
	result, err := json.RawMessage(nil), error(wire.NewError(wire.CodeNoMethod, "method not found"))
	if only && c.answers(r) {
		result, err = u.forward(ctx, c, r)
	}
	switch {
	case err == nil, ctx.Err() != nil, r.Notification:
		return result, err
	case c != nil && !isAnswer(err) && c.hooks.Allows(r.Method):
		if _, hooked := c.hooks.Kind(r.Method); hooked {
			return c.hooks.Respond(ctx, r)
		}
	}
	return nil, u.bridge.plainError(err)
}

// answers reports whether r can be forwarded to c. In some dialects, each call of a client names the methods that the
// client answers.
func (c *client) answers(r dialect.Request) bool {
	names := c.caller.Connection().Answers
	return names == nil || r.Notification || slices.Contains(names, r.Method)
}

// isAnswer reports whether err is an error response from a client that has the method.
func isAnswer(err error) bool {
	rpc, ok := errors.AsType[*wire.Error](err)
	return ok && string(rpc.Code) != strconv.Itoa(wire.CodeNoMethod)
}

// forward forwards a request or notification from the peer to c.
func (u *upstream) forward(ctx context.Context, c *client, r dialect.Request) (json.RawMessage, error) {
	if r.Notification && u.hasReceived(c, r) {
		return nil, nil
	}
	r.Params = u.bridge.carried(r.Params, u.bridge.here)
	if r.Notification {
		return nil, c.caller.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: r.Method, Params: r.Params})
	}
	result, err := c.caller.Call(ctx, r.Method, r.Params)
	if ctx.Err() != nil { // the peer has cancelled the request
		return nil, ctx.Err()
	}
	return result, err
}

// hasReceived reports whether client c has already received a notification as an event of its call. Between equal dialects,
// other notifications are forwarded unchanged.
func (u *upstream) hasReceived(c *client, r dialect.Request) bool {
	if u.bridge.spec.Name == u.bridge.here.Name {
		return r.Claimed
	}
	reported := u.bridge.spec.Bridge.ReportsProgress
	return reported != nil && c.calls.Load() > 0 && reported(r.Method)
}

// asked returns the client that should answer a request from the peer: the only client, or the only client that has pending calls.
// If there are several, it returns any of them, and only is false.
func (u *upstream) asked() (one *client, only bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.clients {
		if len(u.clients) > 1 && c.calls.Load() == 0 {
			continue
		}
		if one != nil {
			return one, false
		}
		one = c
	}
	return one, one != nil
}

func (u *upstream) close() error {
	u.mu.Lock()
	conv := u.conv
	u.conv, u.closed = nil, true
	u.mu.Unlock()
	if conv == nil {
		return nil
	}
	return conv.Close()
}
