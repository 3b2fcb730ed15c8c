// Package ws holds WebSockets: Dial connects to one, Accept answers a request with one. It alone imports coder/websocket.
package ws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"rpcx/wire"
	"rpcx/wire/transport"
)

var (
	errHungUp  = errors.New("the peer hung up without a close message")
	errNotRead = errors.New("the peer did not take a control message for 5s")
)

// A Conn is a WebSocket, of either side, as a wire.Conn; one message is one
// text message. It is a wire.Idler, wire.Batcher and wire.CloserWith.
type Conn struct {
	ws     *websocket.Conn
	net    *wsNet
	frames *frameReader // what the library reads from; nil: it reads from net, of a listener
	c      transport.Config

	buf []byte // of Recv alone; its length is that of the message before

	end     atomic.Pointer[error] // the first reason that was found for the end
	sending sync.Mutex            // held while a message is written: by the library, or by us
	closing sync.Once
	unping  func() // ends the keep-alive
}

// newWS takes over a WebSocket whose handshake is done, and the connection
// under it.
func newWS(ws *websocket.Conn, n *wsNet, c transport.Config) *Conn {
	w := &Conn{ws: ws, net: n, c: c, unping: func() {}}
	ws.SetReadLimit(int64(c.MaxMessage))
	n.broken.Store(nil) // net/http may have called back a read of its own
	if c.Ping > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		w.unping = func() { cancel(); <-done }
		go func() { defer close(done); w.pings(ctx, c.Ping) }()
	}
	return w
}

// OnIdle sets f to be called before Recv waits for bytes.
func (w *Conn) OnIdle(f func()) { w.net.idle = f }

// Send writes one text message.
func (w *Conn) Send(msg []byte) error {
	if err := w.SendBuffered(msg); err != nil {
		return err
	}
	return w.Flush()
}

// Flush writes what SendBuffered held back.
func (w *Conn) Flush() error { return w.sent(w.net.Flush()) }

// sent says why nothing can be sent any more. Only the reader knows the peer
//'s reason; where it has not come yet, the error of the write must do.
func (w *Conn) sent(err error) error {
	if err == nil {
		return nil
	}
	if end := w.end.Load(); end != nil {
		return *end
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op
	}
	return &wire.CloseError{Err: err}
}

// Close is CloseWith 1000.
func (w *Conn) Close() error {
	return w.CloseWith(int(websocket.StatusNormalClosure), "")
}

// CloseWith says goodbye with a code and a reason and waits for the peer
// to answer, within the Config's CloseTimeout; then the connection is cut. A
// reason that is too long (123 bytes) is cut too.
func (w *Conn) CloseWith(code int, reason string) error {
	w.closing.Do(func() {
		first := w.ended(&wire.CloseError{Clean: true, Err: net.ErrClosed})
		if f := wire.AsFault(first); f != nil && code == int(websocket.StatusNormalClosure) {
			code = int(websocket.StatusProtocolError) // where the library has not said so already
		}
		if errors.Is(first, errHuge) {
			code = int(websocket.StatusMessageTooBig) // as the library says where it finds out itself
		}
		w.net.phase.Store(closing)
		w.bye(websocket.StatusCode(code), cutReason(reason))
		w.unping()
	})
	return nil
}

// stuckTimeout is how long a library is waited for whose connection was closed under it.
const stuckTimeout = 150 * time.Millisecond

// bye is bounded by closing the connection under the library: its own close
// waits 5 seconds for a silent peer. Should even that not help (a reader
// that is stuck in what OnIdle called), the library is left behind.
func (w *Conn) bye(code websocket.StatusCode, reason string) {
	patience, cancel := transport.Within(w.c.Hurry, w.c.CloseTimeout, 0)
	defer cancel()
	defer context.AfterFunc(patience, func() { w.net.Close() })()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.net.Flush()
		if w.net.failed() == nil {
			w.ws.Close(code, reason)
		}
		w.ws.CloseNow()
		w.net.Close()
	}()
	select {
	case <-done:
	case <-patience.Done():
		select {
		case <-done:
		case <-time.After(stuckTimeout):
		}
	}
}

func cutReason(s string) string {
	const most = 123
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for !utf8.ValidString(s) && len(s) > most-utf8.UTFMax {
		s = s[:len(s)-1]
	}
	return s
}

// pings keeps the connection alive, and finds out when it is not.
func (w *Conn) pings(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			w.ping(ctx, every)
		}
	}
}

// ping fails only when one read waited for the whole time: bytes of any kind
// are a sign of life, and a pong that we do not read is not the peer's fault.
func (w *Conn) ping(ctx context.Context, limit time.Duration) {
	if !w.net.writable() {
		return // the library would give up a connection that is merely full
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before, waiting := w.net.waiting()
	late := time.AfterFunc(limit, func() {
		if now, _ := w.net.waiting(); waiting && now == before {
			w.ended(&wire.CloseError{Err: fmt.Errorf("no answer to a keep-alive ping for %v", limit)})
			w.net.Close()
		}
		cancel()
	})
	defer late.Stop()
	w.ws.Ping(ctx)
}

// Remote returns the address of the peer; "" if it has none.
func (w *Conn) Remote() string { return w.net.RemoteAddr().String() }
