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

// settle is how long the first message of an answer waits. If another follows, the answer becomes an event stream, for
// clients that accept one.
const settle = 20 * time.Millisecond

// ErrNoStream is returned by Send for a message that cannot be sent in answer to a POST, because its client accepts
// only one answer and no event stream.
var ErrNoStream = errors.New("the peer accepts one response and no event stream")

// A postConn is one POST to a listener. Recv returns its body and then io.EOF, and messages sent until Close are the
// response. It is a wire.SingleExchange and a wire.Batcher.
type postConn struct {
	reply
	body   []byte
	gone   context.Context // ends when the peer disconnects
	stream bool            // the peer accepts an event stream
	plain  bool            // and JSON
	limit  time.Duration
	from   string // its address
	taken  int    // the status of a response without a body
	hold   func(bytes int)

	mu       sync.Mutex
	first    []byte // the first message, if it is not sent yet, or nil
	held     int    // its bytes, until they are written
	out      []byte
	timer    *time.Timer
	err      error // nothing can be written any more
	closed   bool
	finish   chan struct{} // closed by Close
	finished chan struct{} // closed when the answer is sent

	read bool // used only by Recv
}

func newPostConn(w http.ResponseWriter, r *http.Request, body []byte, c transport.Config) *postConn {
	taken := http.StatusNoContent
	if c.Sessions != nil { // as where they are one
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

// SingleResponse reports whether the peer accepts one message and no event stream.
func (p *postConn) SingleResponse() bool { return !p.stream }

// Remote returns the address of the peer, or "" if it has none.
func (p *postConn) Remote() string { return p.from }

// PeerClosed returns a channel that is closed when the client has disconnected, so that work for this exchange can be cancelled.
func (p *postConn) PeerClosed() <-chan struct{} { return p.gone.Done() }

// Recv returns the body of the POST, even for a peer that has not waited for the answer, then io.EOF. When the peer has
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

// over returns why nothing can be sent any more, or nil if it can.
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

// Send adds a message to the answer.
func (p *postConn) Send(msg []byte) error {
	if err := p.SendBuffered(msg); err != nil {
		return err
	}
	return p.Flush()
}

// SendBuffered delays the first message briefly, because an answer of one message needs no event stream.
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

// release counts the first message as written.
func (p *postConn) release() {
	p.hold(-p.held)
	p.held = 0
}

// late turns the response into an event stream, because there are more messages, or because it takes long.
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

// Close ends the answer. It waits until the answer is written, but no longer than the Config's CloseTimeout. The rest
// is between the peer and the handler. It cuts off a Send for which the peer has waited that long.
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

// abandon marks the exchange as over before anyone has received it.
func (p *postConn) abandon() {
	p.closed = true
	close(p.finished)
}

// serve is the handler's goroutine. The response must not be used after serve returns. After Close, nothing else uses
// it.
func (p *postConn) serve() {
	defer close(p.finished)
	<-p.finish
	defer p.release()
	if p.err == nil { // otherwise a deadline may have cut it off
		p.patience(len(p.first) + len(p.out))
	}
	if p.begun {
		p.flush()
	} else {
		p.whole(p.first, p.taken)
	}
}
