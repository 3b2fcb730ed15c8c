// Package ws connects to WebSockets (Dial) and upgrades requests (Accept). Only this package imports coder/websocket.
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
	errHungUp  = errors.New("the peer closed the connection without a close frame")
	errNotRead = errors.New("the peer did not read a control frame for 5s")
)

// A Conn is a WebSocket, of a client or a server, as a wire.Conn. Each wire message is one text message. It is a
// wire.Idler, wire.Batcher and wire.CloserWith.
type Conn struct {
	ws     *websocket.Conn
	net    *wsNet
	frames *frameReader // the library reads from frames; nil on a listener, where the library reads from net
	c      transport.Config

	buf  []byte   // used only by Recv; its length is that of the last message
	more [][]byte // further messages, if text surrounds them

	end     atomic.Pointer[error] // why the WebSocket ended first
	sending sync.Mutex            // held while rpcx or the library writes a message
	closing sync.Once
	unping  func() // stops the keep-alive
}

// newWS takes over a WebSocket and its connection after the handshake.
func newWS(ws *websocket.Conn, n *wsNet, c transport.Config) *Conn {
	w := &Conn{ws: ws, net: n, c: c, unping: func() {}}
	ws.SetReadLimit(int64(c.MaxMessage))
	n.broken.Store(nil) // net/http may have cancelled its own read
	if c.Ping > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		w.unping = func() { cancel(); <-done }
		go func() { defer close(done); w.pings(ctx, c.Ping) }()
	}
	return w
}

// OnIdle sets f, which Recv calls before it waits for bytes.
func (w *Conn) OnIdle(f func()) { w.net.idle = f }

// Send writes one text message.
func (w *Conn) Send(msg []byte) error {
	if err := w.SendBuffered(msg); err != nil {
		return err
	}
	return w.Flush()
}

// Flush writes the messages that SendBuffered queued.
func (w *Conn) Flush() error { return w.sent(w.net.Flush()) }

// sent returns why a write failed. The reader knows the peer's reason. Before that arrives, sent returns the error of
// the write.
func (w *Conn) sent(err error) error {
	if err == nil {
		return nil
	}
	if end := w.end.Load(); end != nil {
		return *end
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op
	}
	return &wire.CloseError{Err: err}
}

// Close closes the WebSocket with code 1000.
func (w *Conn) Close() error {
	return w.CloseWith(int(websocket.StatusNormalClosure), "")
}

// CloseWith sends a close frame with a code and a reason, waits at most Config.CloseTimeout for the peer's, and closes the
// connection. It shortens the reason to 123 bytes.
func (w *Conn) CloseWith(code int, reason string) error {
	w.closing.Do(func() {
		first := w.ended(&wire.CloseError{Clean: true, Err: net.ErrClosed})
		if f := wire.AsFault(first); f != nil && code == int(websocket.StatusNormalClosure) {
			code = int(websocket.StatusProtocolError) // unless the library has sent one
		}
		if errors.Is(first, errHuge) {
			code = int(websocket.StatusMessageTooBig) // like the library's own code for a message that is too long
		}
		w.net.phase.Store(closing)
		w.bye(websocket.StatusCode(code), cutReason(reason))
		w.unping()
	})
	return nil
}

// stuckTimeout bounds the wait for the library after its connection was closed.
const stuckTimeout = 150 * time.Millisecond

// bye bounds the library's close, which waits 5 seconds for a silent peer. It closes the connection below. If the
// library is still stuck, because a reader is in OnIdle's function, bye abandons it.
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

// pings sends keep-alive pings, and closes the connection if they fail.
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

// ping fails only if a single read has waited all the time. Any bytes show that the peer is alive, and a pong that rpcx
// has not read is no failure of the peer.
func (w *Conn) ping(ctx context.Context, limit time.Duration) {
	if !w.net.writable() {
		return // the library would close a connection that is only full
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before, waiting := w.net.waiting()
	late := time.AfterFunc(limit, func() {
		if now, _ := w.net.waiting(); waiting && now == before {
			w.ended(&wire.CloseError{Err: noPong(limit)})
			w.net.Close()
		}
		cancel()
	})
	defer late.Stop()
	w.ws.Ping(ctx)
}

// noPong returns the error of a peer that sent nothing after a ping.
func noPong(limit time.Duration) error {
	return fmt.Errorf("no response to a keep-alive ping for %v", limit)
}

// Remote returns the peer's address, or "".
func (w *Conn) Remote() string { return w.net.RemoteAddr().String() }
