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

// settle is how long the first message of a response waits for a second one. If there is a second one and the client
// accepts event streams, the response becomes an event stream.
const settle = 20 * time.Millisecond

// ErrNoStream is the error of Send for a message that cannot be sent, because the client accepts only one response and
// no event stream.
var ErrNoStream = errors.New("the peer accepts one response and no event stream")

// A postConn is one POST to a listener. Recv returns the body of the POST, and then io.EOF. The messages that are sent
// until Close form the response. It is a wire.SingleExchange and a wire.Batcher.
type postConn struct {
	reply
	body         []byte
	disconnected context.Context // ends when the client disconnects
	stream       bool            // the client accepts an event stream
	plain        bool            // the client accepts JSON
	limit        time.Duration
	from         string // the address of the client
	taken        int    // the status for a response without a body
	hold         func(bytes int)

	mu       sync.Mutex
	first    []byte // the first message, as long as it has not been sent, or nil
	held     int    // the number of bytes of the first message that were reported to hold and are not yet written
	out      []byte
	timer    *time.Timer
	err      error // why nothing can be written any longer, or nil
	closed   bool
	finish   chan struct{} // closed by Close
	finished chan struct{} // closed when the response has been sent

	read bool // used only by Recv
}

func newPostConn(w http.ResponseWriter, r *http.Request, body []byte, c transport.Config) *postConn {
	taken := http.StatusNoContent
	if c.Sessions != nil { // the same status as in sessions
		taken = http.StatusAccepted
	}
	return &postConn{
		reply: reply{servedExchange: serve(r, c.Watch), w: w}, body: body, disconnected: r.Context(), from: r.RemoteAddr, limit: c.CloseTimeout,
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

// SingleExchange implements wire.SingleExchange.
func (p *postConn) SingleExchange() {}

// SingleResponse reports whether the client accepts only one message and no event stream.
func (p *postConn) SingleResponse() bool { return !p.stream }

// Remote returns the address of the client, or "".
func (p *postConn) Remote() string { return p.from }

// PeerClosed returns a channel that is closed when the client disconnects. The work for this exchange is then
// cancelled.
func (p *postConn) PeerClosed() <-chan struct{} { return p.disconnected.Done() }

// Recv returns the body of the POST, even if the client has disconnected, and then io.EOF. Once the
// client has disconnected, or after Close, further calls return a *wire.CloseError.
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

// over returns why nothing can be sent any longer, or nil.
func (p *postConn) over() error {
	switch {
	case p.closed:
		return &wire.CloseError{Clean: true, Err: net.ErrClosed}
	case p.err != nil:
		return &wire.CloseError{Err: p.err}
	case p.disconnected.Err() != nil:
		return &wire.CloseError{Err: errors.New("the peer closed the connection before its request was answered")}
	}
	return nil
}

// Send sends a message as part of the response.
func (p *postConn) Send(msg []byte) error {
	if err := p.SendBuffered(msg); err != nil {
		return err
	}
	return p.Flush()
}

// SendBuffered holds the first message back briefly, because a response of only one message needs no event stream.
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
		p.timer = time.AfterFunc(settle, p.startStream)
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

// keep stores the first message. Its bytes count as held until they have been written.
func (p *postConn) keep(msg []byte) {
	p.first, p.held = bytes.Clone(msg), len(msg)
	p.hold(p.held)
}

func (p *postConn) release() {
	p.hold(-p.held)
	p.held = 0
}

// startStream turns the response into an event stream, because there are more messages or the first has waited for
// settle.
func (p *postConn) startStream() {
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

// Flush sends the events that are queued.
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

// Close ends the response and waits until it has been sent, but at most Config.CloseTimeout. After that, only the
// client and the handler use the connection. If a Send is blocked for that long because the client does not read, Close
// interrupts it.
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

// abandon ends an exchange that has not been accepted.
func (p *postConn) abandon() {
	p.closed = true
	close(p.finished)
}

// serve runs on the goroutine of the HTTP handler. When it returns, the response can no longer be used. After Close,
// only serve uses the response.
func (p *postConn) serve() {
	defer close(p.finished)
	<-p.finish
	defer p.release()
	if p.err == nil { // otherwise the body may have been cut off by a deadline
		p.patience(len(p.first) + len(p.out))
	}
	if p.begun {
		p.flush()
	} else {
		p.whole(p.first, p.taken)
	}
}
