package httpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
)

// settle is how long the first message of a response waits for another. If one follows, the response becomes an event
// stream for clients that accept one.
const settle = 20 * time.Millisecond

// ErrNoStream is the error of Send for a message that cannot answer a POST, because the client accepts only one
// response and no event stream.
var ErrNoStream = errors.New("the peer accepts one response and no event stream")

// A postConn is one POST to a listener. Recv returns its body and then io.EOF. The messages sent until Close are the
// response. It is a wire.SingleExchange and a wire.Batcher.
type postConn struct {
	reply
	body   []byte
	gone   context.Context // ends when the peer disconnects
	stream bool            // the peer accepts an event stream
	plain  bool            // the peer accepts JSON
	limit  time.Duration
	from   string // the peer's address
	taken  int    // the status of a response without a body
	hold   func(bytes int)

	mu       sync.Mutex
	first    []byte // the unsent first message, or nil
	held     int    // the bytes of the first message before its write
	out      []byte
	timer    *time.Timer
	err      error // why nothing can be written, or nil
	closed   bool
	finish   chan struct{} // closed by Close
	finished chan struct{} // closed when the response is sent

	read bool // used only by Recv
}

func newPostConn(w http.ResponseWriter, r *http.Request, body []byte, c transport.Config) *postConn {
	taken := http.StatusNoContent
	if c.Sessions != nil { // the same status as in a session
		taken = http.StatusAccepted
	}
	return &postConn{
		reply: reply{servedExchange: serve(r, c.Watch), w: w}, body: body, gone: r.Context(), from: r.RemoteAddr, limit: c.CloseTimeout,
		stream: takesEvents(r), plain: takesPlain(r),
		finish: make(chan struct{}), finished: make(chan struct{}), taken: taken, hold: func(int) {},
	}
}

// OnHold implements wire.Holder.
func (p *postConn) OnHold(hold func(bytes int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = hold
}

// SingleExchange marks a wire.SingleExchange.
func (p *postConn) SingleExchange() {}

// SingleResponse reports whether the peer accepts only one message and no event stream.
func (p *postConn) SingleResponse() bool { return !p.stream }

// Remote returns the peer's address, or "".
func (p *postConn) Remote() string { return p.from }

// PeerClosed returns a channel that is closed at the client's disconnect, which cancels the work for this exchange.
func (p *postConn) PeerClosed() <-chan struct{} { return p.gone.Done() }

// Recv returns the body of the POST, even after the peer has disconnected, and then io.EOF. When the peer has
// disconnected, or after Close, it returns a *wire.CloseError.
func (p *postConn) Recv() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.read && !p.closed {
		p.read = true
		return p.body, nil
	}
	if err := p.over(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

// over returns why nothing can be sent, or nil.
func (p *postConn) over() error {
	switch {
	case p.closed:
		return &wire.CloseError{Clean: true, Err: net.ErrClosed}
	case p.err != nil:
		return &wire.CloseError{Err: p.err}
	case p.gone.Err() != nil:
		return &wire.CloseError{Err: errors.New("the peer closed the connection before its response")}
	}
	return nil
}

// Send adds a message to the response.
func (p *postConn) Send(msg []byte) error {
	if err := p.SendBuffered(msg); err != nil {
		return err
	}
	return p.Flush()
}

// SendBuffered delays the first message briefly, because a response of one message needs no event stream.
func (p *postConn) SendBuffered(msg []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.over(); err != nil {
		return err
	}
	switch {
	case p.begun:
	case !p.stream:
		if p.first != nil || scan.Get(msg, "method") != nil {
			return ErrNoStream
		}
		p.keep(msg)
		return nil
	case p.plain && p.first == nil:
		p.keep(msg)
		p.timer = time.AfterFunc(settle, p.late)
		return nil
	default:
		p.startEvents()
	}
	p.out = httpbody.AppendEvent(p.out, msg)
	if len(p.out) >= 64<<10 {
		return p.flush()
	}
	return p.err
}

// keep stores the first message, which counts as held until it is written.
func (p *postConn) keep(msg []byte) {
	p.first, p.held = bytes.Clone(msg), len(msg)
	p.hold(p.held)
}

func (p *postConn) release() {
	p.hold(-p.held)
	p.held = 0
}

// late makes the response an event stream, because it has more messages or takes long.
func (p *postConn) late() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && !p.begun {
		p.startEvents()
		p.flush()
	}
}

func (p *postConn) startEvents() {
	p.begin()
	if p.first != nil {
		p.out = httpbody.AppendEvent(p.out, p.first)
		p.first = nil
	}
}

// Flush writes the queued events.
func (p *postConn) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.begun || p.closed {
		return nil
	}
	return p.flush()
}

func (p *postConn) flush() error {
	if p.err == nil && len(p.out) > 0 {
		p.err = p.write(p.out)
		p.release()
	}
	p.out = p.out[:0]
	if p.err != nil {
		return &wire.CloseError{Err: p.err}
	}
	return nil
}

// Close ends the response and waits until it is written, at most Config.CloseTimeout. After that, only the peer and the
// handler use it. Close interrupts a Send that has waited that long for the peer.
func (p *postConn) Close() error {
	cut := time.AfterFunc(p.limit, func() {
		http.NewResponseController(p.w).SetWriteDeadline(time.Unix(1, 0))
	})
	p.mu.Lock()
	cut.Stop()
	if !p.closed {
		p.closed = true
		if p.timer != nil {
			p.timer.Stop()
		}
		close(p.finish)
	}
	p.mu.Unlock()
	select {
	case <-p.finished:
	case <-time.After(p.limit):
	}
	return nil
}

// abandon ends the exchange before it is accepted.
func (p *postConn) abandon() {
	p.closed = true
	close(p.finished)
}

// serve is the handler's goroutine, after which the response must not be used. After Close, only serve uses it.
func (p *postConn) serve() {
	defer close(p.finished)
	<-p.finish
	defer p.release()
	if p.err == nil { // otherwise a deadline may have cut the body off
		p.patience(len(p.first) + len(p.out))
	}
	if p.begun {
		p.flush()
	} else {
		p.whole(p.first, p.taken)
	}
}
