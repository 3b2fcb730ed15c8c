// Package ws connects to WebSocket servers (Dial) and accepts upgrades to WebSocket (Accept). It is the only package
// that imports coder/websocket.
package ws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"rpcx/wire"
	"rpcx/wire/transport"
)

var (
	errNoCloseFrame = errors.New("the peer closed the connection without a close frame")
	errNotRead      = errors.New("the peer did not read a control frame for 5s")
)

// A Conn is a WebSocket of a client or a server, in the form of a wire.Conn. Each wire message is one text message. It
// is a wire.Idler, wire.Batcher and wire.CloserWith.
type Conn struct {
	ws     *websocket.Conn
	net    *wsNet
	frames *frameReader // the library reads through it; nil on a listener, where the library reads from net directly
	c      transport.Config

	buf  []byte   // used only by Recv; contains the last message
	more [][]byte // further messages, if a message consists of JSON with text around it

	end       atomic.Pointer[error] // the first reason why the WebSocket ended
	sending   sync.Mutex            // held while a message is being written, by rpcx or by the library
	closing   sync.Once
	stopPings func() // stops keep-alive
}

// newWS returns a Conn for a WebSocket and its connection, after the handshake.
func newWS(ws *websocket.Conn, n *wsNet, c transport.Config) *Conn {
	w := &Conn{ws: ws, net: n, c: c, stopPings: func() {}}
	ws.SetReadLimit(int64(c.MaxMessage))
	n.broken.Store(nil) // net/http may have cancelled its own read
	if c.Ping > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		done := wire.Go(func() { every(c.Ping, ctx.Done(), func() { w.ping(ctx, c.Ping) }) })
		w.stopPings = func() { cancel(); <-done }
	}
	return w
}

// OnIdle sets the function that Recv calls before it waits for bytes.
func (w *Conn) OnIdle(f func()) { w.net.idle = f }

// Send sends one text message.
func (w *Conn) Send(msg []byte) error {
	if err := w.SendBuffered(msg); err != nil {
		return err
	}
	return w.Flush()
}

// Flush sends the messages that SendBuffered has queued.
func (w *Conn) Flush() error { return w.sent(w.net.Flush()) }

// sent returns the error for a write that failed. If the end of the WebSocket has already been recorded, it returns
// that reason. Otherwise it returns the error of the write itself.
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

// CloseWith sends a close frame with a code and a reason, waits for the peer's close frame, but at most
// Config.CloseTimeout, and closes the connection. If the reason is longer than 123 bytes, it is cut.
func (w *Conn) CloseWith(code int, reason string) error {
	w.closing.Do(func() {
		first := w.ended(&wire.CloseError{Clean: true, Err: net.ErrClosed})
		if f := wire.AsFault(first); f != nil && code == int(websocket.StatusNormalClosure) {
			code = int(websocket.StatusProtocolError) // if the library has not already sent one
		}
		if errors.Is(first, errHuge) {
			code = int(websocket.StatusMessageTooBig) // the library sends the same code when a message is too long
		}
		w.net.phase.Store(closing)
		w.closeLibrary(websocket.StatusCode(code), cutReason(reason))
		w.stopPings()
	})
	return nil
}

// stuckTimeout is how long rpcx waits for the library after it has closed the connection.
const stuckTimeout = 150 * time.Millisecond

// closeLibrary limits the library's close, which would wait 5 seconds for a peer that does not respond. When the time
// is over, it closes the underlying connection. If the library is blocked even then, because a reader is in the
// function of OnIdle, closeLibrary does not wait for it.
func (w *Conn) closeLibrary(code websocket.StatusCode, reason string) {
	patience, cancel := transport.Within(w.c.Hurry, w.c.CloseTimeout, 0)
	defer cancel()
	defer context.AfterFunc(patience, func() { w.net.Close() })()
	done := wire.Go(func() {
		w.net.Flush()
		if w.net.failed() == nil {
			w.ws.Close(code, reason)
		}
		w.ws.CloseNow()
		w.net.Close()
	})
	select {
	case <-done:
	case <-patience.Done():
		wire.Either(done, time.After(stuckTimeout))
	}
}

func cutReason(s string) string {
	if most := 123; len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}

// every calls do at an interval, until done is closed.
func every(interval time.Duration, done <-chan struct{}, do func()) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case <-t.C:
			do()
		}
	}
}

// ping sends a ping and closes the connection if a single read is waiting all the time until limit has passed. Any
// bytes show that the peer is alive, and it is not the peer's fault if rpcx has not read its pong.
func (w *Conn) ping(ctx context.Context, limit time.Duration) {
	if !w.net.writable() {
		return // the library would close a connection whose peer is only reading slowly
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

// noPong returns the error for a peer that has sent nothing after a ping.
func noPong(limit time.Duration) error {
	return fmt.Errorf("no response to a keep-alive ping for %v", limit)
}

// Remote returns the peer's address, or "".
func (w *Conn) Remote() string { return w.net.RemoteAddr().String() }
