package httpserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/transport"
)

var (
	errSessionEnded   = errors.New("the client ended its session")
	errRefused        = errors.New("the message that starts the session was rejected")
	errSessionIdle    = errors.New("the session was idle for too long")
	errListenerClosed = errors.New("the listener is closed")
)

// A sessionConn is a session, which consists of several exchanges with an HTTP listener. Recv returns the messages that
// clients have posted. A message that belongs to a POST is sent in the response to that POST, which may be an event
// stream. Other messages are sent on the standing event stream. A session does not end when the client disconnects,
// because the client can request the events that it has missed.
type sessionConn struct {
	id     string
	from   string // the address of the client
	in     *sessions
	primes bool        // event streams begin with an empty event
	posted chan []byte // posted messages, for Recv

	ctx    context.Context // ends with the session; its cause is the reason
	cancel context.CancelCauseFunc

	mu        sync.Mutex
	streams   []*eventLog // the streams that clients can request, oldest first; the first is the standing stream
	last      int         // the number of the latest stream
	answered  bool        // the message that starts the session has been answered
	refused   bool        // that answer was an error
	exchanges int         // how many exchanges are running
	left      wire.Gate   // opens when an exchange has ended
	held      int         // how many unsent bytes have been reported to hold
	hold      func(bytes int)
	idle      *time.Timer // runs while there are no exchanges
	tell      func(transport.Exchange)
}

func newSessionConn(id, from string, in *sessions, primes bool) *sessionConn {
	c := &sessionConn{id: id, from: from, in: in, primes: primes, posted: make(chan []byte), hold: func(int) {}}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.streams = []*eventLog{newEventLog(0, nil, true)}
	c.idle = time.AfterFunc(in.idle, func() { c.end(errSessionIdle) })
	return c
}

// OnHold implements wire.Holder.
func (c *sessionConn) OnHold(hold func(bytes int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = hold
}

// Remote returns the address of the client, or "".
func (c *sessionConn) Remote() string { return c.from }

// OnExchange sets a function that is called with each exchange when the head of its response is sent.
func (c *sessionConn) OnExchange(tell func(transport.Exchange)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell = tell
}

// Recv returns the next message that was posted.
func (c *sessionConn) Recv() ([]byte, error) {
	select {
	case msg := <-c.posted:
		return msg, nil
	case <-c.ctx.Done():
		return nil, c.gone()
	}
}

func (c *sessionConn) gone() *wire.CloseError {
	return &wire.CloseError{Clean: true, Err: context.Cause(c.ctx)}
}

// Send sends a response on the stream of its request, and any other message on the stream that carrier returns.
func (c *sessionConn) Send(msg []byte) error { return c.route(nil, msg) }

// SendAbout implements wire.Router.
func (c *sessionConn) SendAbout(request wire.ID, msg []byte) error { return c.route(request, msg) }

// NoAnswer implements wire.Router.
func (c *sessionConn) NoAnswer(request wire.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := string(request.Key())
	if s := c.owing(id); s != nil {
		s.settle(id)
	}
}

func (c *sessionConn) route(request wire.ID, msg []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	answers := answersOf(msg)
	var s *eventLog
	switch {
	case len(answers) > 0:
		if s = c.owing(answers[0]); s == nil {
			return nil // no client waits for the message, or the client has received an empty response
		}
	case len(request) > 0:
		s = c.owing(string(request.Key()))
		fallthrough
	default:
		s = c.carrier(s)
	}
	for s.full(c.in.share.Load()) {
		if s.change.Await(c.ctx, &c.mu) != nil {
			return c.gone()
		}
	}
	if len(answers) > 0 && !c.answered {
		fail := scan.Get(msg, "error")
		c.answered, c.refused = true, fail != nil && string(fail) != "null"
	}
	s.add(msg)
	for _, id := range answers {
		s.settle(id)
	}
	c.trim()
	return nil
}

// carrier returns the stream for a message that is not a response: the stream of its request, or else the standing
// stream. If the standing stream has no reader, carrier returns another stream that has one. Only streams that can
// become event streams are used. The caller holds the lock.
func (c *sessionConn) carrier(of *eventLog) *eventLog {
	if of != nil && of.carries {
		return of
	}
	standing := c.streams[0]
	if standing.reader != nil {
		return standing
	}
	for i := len(c.streams) - 1; i > 0; i-- {
		if s := c.streams[i]; s.carries && s.reader != nil && !s.done() {
			return s
		}
	}
	return standing
}

// owing returns the stream that must carry the response to a request, or nil. The caller holds the lock.
func (c *sessionConn) owing(request string) *eventLog {
	for _, s := range c.streams {
		if s.owes[request] {
			return s
		}
	}
	return nil
}

// Close ends the session. It waits until the messages in flight have been sent, but at most Config.CloseTimeout.
func (c *sessionConn) Close() error {
	c.end(errListenerClosed)
	ctx, cancel := context.WithTimeout(context.Background(), c.in.c.CloseTimeout)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.exchanges > 0 && c.left.Await(ctx, &c.mu) == nil {
	}
	return nil
}

// end ends the session. Only the reason of the first call counts.
func (c *sessionConn) end(why error) {
	c.cancel(why)
	c.in.forget(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle.Stop()
	c.hold(-c.held)
	c.held = 0
}

// enter counts an exchange until leave is called.
func (c *sessionConn) enter() (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanges++
	c.idle.Stop()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.left.Pass()
		if c.exchanges--; c.exchanges == 0 && c.ctx.Err() == nil {
			c.idle.Reset(c.in.idle)
		}
	}
}

// post handles a posted message. owes contains the ids of its requests, for whose responses the client waits.
func (c *sessionConn) post(w http.ResponseWriter, r *http.Request, msg []byte, owes []string) {
	defer c.enter()()
	if len(owes) == 0 {
		if c.take(w, r, msg) {
			w.WriteHeader(http.StatusAccepted)
			c.exchange(r).answered(http.StatusAccepted, w.Header())
		}
		return
	}
	a := &answerer{reply: reply{servedExchange: c.exchange(r), w: w}, c: c, plain: takesPlain(r)}
	c.mu.Lock()
	for _, id := range owes {
		if c.owing(id) != nil {
			c.mu.Unlock()
			c.in.refused.refuse(w, r, http.StatusBadRequest, "a request with that id is pending")
			return
		}
	}
	c.last++
	a.s, a.opens = newEventLog(c.last, owes, takesEvents(r)), c.last == 1
	c.streams = append(c.streams, a.s)
	a.attach()
	c.mu.Unlock()
	taken := false
	defer func() { // also if the exchange is cut
		if !taken {
			c.drop(a.s)
		}
	}()
	if taken = c.take(w, r, msg); taken {
		a.answer()
	}
}

// refuses reports whether the message that starts the session has no response or was answered with an error.
func (c *sessionConn) refuses() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused || !c.answered
}

// take passes a message to Recv. It returns false if the session has ended, and cuts the exchange if the client has
// disconnected.
func (c *sessionConn) take(w http.ResponseWriter, r *http.Request, msg []byte) bool {
	select {
	case c.posted <- msg:
		return true
	case <-c.ctx.Done():
		c.in.refused.refuse(w, r, http.StatusNotFound, "the session has ended")
	case <-r.Context().Done():
		c.exchange(r).cut()
	}
	return false
}

// exchange returns the servedExchange for a request of the session.
func (c *sessionConn) exchange(r *http.Request) *servedExchange {
	x := serve(r, c.in.c.Watch)
	c.mu.Lock()
	tell := c.tell
	c.mu.Unlock()
	if tell != nil {
		x.OnExchange(tell)
	}
	return x
}

// drop removes a stream.
func (c *sessionConn) drop(s *eventLog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.streams, s); i > 0 {
		c.streams = slices.Concat(c.streams[:i], c.streams[i+1:])
	}
}
