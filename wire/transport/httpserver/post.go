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

// maxUnsent is how many bytes of an event stream may wait for its client. If there are more, Send waits after the next message.
const maxUnsent = 64 << 10

// A postConn is one POST to a listener. Recv returns the body of the POST, and then io.EOF. The messages that are sent
// until Close form the response. It is a wire.SingleExchange.
type postConn struct {
	reply
	body         []byte
	disconnected context.Context // ends when the client disconnects
	stream       bool            // the client accepts an event stream
	plain        bool            // the client accepts JSON
	limit        time.Duration
	taken        int // the status for a response without a body
	hold         func(bytes int)

	mu       sync.Mutex
	change   wire.Gate // opens when any of the following fields changes
	msgs     [][]byte  // the messages that serve has not taken yet
	unsent   int       // the number of bytes that were reported to hold and are not yet written
	err      error     // why nothing can be written any longer, or nil
	closed   bool
	finished chan struct{} // closed when the response has been sent

	read bool // used only by Recv
}

func newPostConn(w http.ResponseWriter, r *http.Request, body []byte, c transport.Config) *postConn {
	taken := http.StatusNoContent
	if c.Sessions != nil { // the same status as in sessions
		taken = http.StatusAccepted
	}
	return &postConn{
		reply: reply{servedExchange: serve(r, c.Watch), w: w}, body: body, disconnected: r.Context(), limit: c.CloseTimeout,
		stream: takesEvents(r), plain: takesPlain(r),
		finished: make(chan struct{}), taken: taken, hold: func(int) {},
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
func (p *postConn) Remote() string { return p.r.RemoteAddr }

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
		return &wire.CloseError{Err: errCut}
	}
	return nil
}

// Send adds a message to the response.
func (p *postConn) Send(msg []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The second message does not wait, because serve waits for it.
	for p.stream && p.over() == nil && p.unsent > maxUnsent && len(p.msgs) != 1 {
		_ = p.change.Await(p.disconnected, &p.mu)
	}
	if err := p.over(); err != nil {
		return err
	}
	if !p.stream && (len(p.msgs) > 0 || scan.Get(msg, "method") != nil) {
		return ErrNoStream
	}
	p.msgs = append(p.msgs, bytes.Clone(msg))
	p.unsent += len(msg)
	p.hold(len(msg))
	p.change.Pass()
	return nil
}

// Close ends the response and waits until it has been sent, but at most Config.CloseTimeout. After that, only the
// client and the handler use the connection.
func (p *postConn) Close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		p.patience(p.unsent)
		p.change.Pass()
	}
	p.mu.Unlock()
	wire.Either(p.finished, time.After(p.limit))
	return nil
}

// serve writes the response, on the goroutine of the HTTP handler. When it returns, the response can no longer be used.
func (p *postConn) serve() {
	defer close(p.finished)
	for p.await() {
		p.flush()
	}
	switch {
	case p.isStream():
		p.flush()
	case len(p.msgs) > 0:
		p.whole(p.msgs[0], p.taken)
	case p.disconnected.Err() != nil: // perhaps before a response
		p.cut()
	default:
		p.whole(nil, p.taken)
	}
	p.hold(-p.unsent)
}

// await waits until there are events to write. It returns false after Close. The first message waits for settle, because a
// response of only one message needs no event stream.
func (p *postConn) await() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var late <-chan time.Time
	for !p.closed && !(len(p.msgs) > 0 && p.isStream()) {
		if len(p.msgs) > 0 && p.stream && late == nil {
			late = time.After(settle)
		}
		change := p.change.Wait()
		p.mu.Unlock()
		select {
		case <-change:
		case <-late:
			p.begin()
		}
		p.mu.Lock()
	}
	return !p.closed
}

// isStream reports whether the response is an event stream. Only serve calls it, with the lock or after Close.
func (p *postConn) isStream() bool { return p.begun || len(p.msgs) > 1 || len(p.msgs) > 0 && !p.plain }

// flush writes the messages as events.
func (p *postConn) flush() {
	p.mu.Lock()
	msgs, err := p.msgs, p.err
	p.msgs = nil
	p.mu.Unlock()
	size, out := 0, []byte(nil)
	for _, msg := range msgs {
		size += len(msg)
		out = httpbody.AppendEvent(out, msg)
	}
	p.begin()
	if err == nil {
		err = p.write(out)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
	p.unsent -= size
	p.hold(-size)
	p.change.Pass()
}
