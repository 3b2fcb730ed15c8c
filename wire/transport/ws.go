package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"rpcx/wire"
)

// The buffer of what is received begins small, and goes back to it after a
// message that was much larger than those that follow it.
const (
	smallMessage = 64 << 10
	largeMessage = 1 << 20
)

var (
	errHungUp  = errors.New("the far side hung up without a close message")
	errNotRead = errors.New("the far side did not take a control message for 5s")
)

// A wsConn is a WebSocket, of either side, as a wire.Conn; one message is one
// text message. It is a wire.Idler, wire.Batcher and wire.CloserWith.
type wsConn struct {
	ws     *websocket.Conn
	net    *wsNet
	max    int
	binary wire.Binary
	limit  time.Duration   // of each step of Close
	hurry  context.Context // Config.Hurry
	from   *served         // how it came; nil: it was dialled

	first func(b []byte) // gets the first message; nil: nobody wants it
	buf   []byte         // of Recv alone
	last  int            // the length of the message before

	end       atomic.Pointer[error] // the first reason that was found for the end
	closing   sync.Once
	ctx       context.Context // of the keep-alive alone
	cancel    context.CancelFunc
	keepAlive sync.WaitGroup
}

// newWS takes over a WebSocket whose handshake is done, and the connection
// under it.
func newWS(ws *websocket.Conn, n *wsNet, c Config) *wsConn {
	w := &wsConn{
		ws: ws, net: n, binary: c.Binary, limit: c.closeTimeout(), hurry: c.Hurry,
		max: c.Options.WithDefaults().MaxMessage, first: c.First,
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	ws.SetReadLimit(int64(w.max))
	n.start()
	if c.Ping > 0 {
		w.keepAlive.Go(func() { w.pings(c.Ping) })
	}
	return w
}

// OnIdle sets f to be called before Recv waits for bytes.
func (w *wsConn) OnIdle(f func()) { w.net.idle = f }

// Recv returns the next text message (and the next binary one, as the dialect
// has it). An empty message is a message. The context is never a caller's: a
// context that ends would end the connection.
func (w *wsConn) Recv() ([]byte, error) {
	w.net.inRecv.Store(true)
	defer w.net.inRecv.Store(false)
	for {
		typ, r, err := w.ws.Reader(context.Background())
		if err != nil {
			return nil, w.received(err)
		}
		msg, err := w.read(r)
		if err != nil {
			return nil, w.received(err)
		}
		if typ != websocket.MessageBinary || w.binary == wire.BinaryAccept {
			return w.heard(msg), nil
		}
		if w.binary == wire.BinaryRefuse {
			return nil, w.refuseBinary()
		}
	}
}

// read reads one message into the buffer, which grows only as bytes come,
// whatever length was announced.
func (w *wsConn) read(r io.Reader) ([]byte, error) {
	if cap(w.buf) > largeMessage && w.last < cap(w.buf)/4 || w.buf == nil {
		w.buf = make([]byte, 0, smallMessage)
	}
	b := w.buf[:0]
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			w.buf, w.last = b, len(b)
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(2*cap(b), w.max+1)), b...)
		}
	}
}

func (w *wsConn) refuseBinary() error {
	const why = "binary messages are not taken"
	err := w.ended(wire.NewFault(wire.Protocol, "the far side sent a binary message, which this dialect does not have", nil))
	w.CloseWith(int(websocket.StatusUnsupportedData), why)
	return err
}

// ended keeps the first reason that was found, and returns it ever after.
func (w *wsConn) ended(err error) error {
	w.end.CompareAndSwap(nil, &err)
	return *w.end.Load()
}

// received turns the library's error into the end of the connection. When the
// bytes below still come, it is the far side that broke the protocol.
func (w *wsConn) received(err error) error {
	var ce websocket.CloseError
	switch {
	case w.end.Load() != nil:
		return *w.end.Load()
	case errors.Is(err, websocket.ErrMessageTooBig):
		return w.ended(wire.NewFault(wire.Protocol,
			fmt.Sprintf("a message is longer than %d bytes, the limit of --max-message", w.max), nil))
	case errors.Is(err, errMasked):
		return w.ended(wire.NewFault(wire.Protocol, errMasked.Error(), err))
	case errors.As(err, &ce):
		clean := ce.Code == websocket.StatusNormalClosure || ce.Code == websocket.StatusGoingAway ||
			ce.Code == websocket.StatusNoStatusRcvd // a goodbye that gives no reason
		return w.ended(&wire.CloseError{Code: int(ce.Code), Reason: ce.Reason, Clean: clean})
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return w.ended(&wire.CloseError{Err: errHungUp})
	case errors.Is(err, net.ErrClosed):
		return w.ended(&wire.CloseError{Err: errNotRead}) // the library gave up, not we
	case w.net.failed() != nil:
		return w.ended(&wire.CloseError{Err: w.net.failed()})
	}
	what := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "failed to get reader: "), "failed to read: ")
	return w.ended(wire.NewFault(wire.Protocol, "broken WebSocket message: "+what, err))
}

// Send writes one text message.
func (w *wsConn) Send(msg []byte) error {
	if err := w.SendBuffered(msg); err != nil {
		return err
	}
	return w.Flush()
}

// SendBuffered is Send without the last write to the system.
func (w *wsConn) SendBuffered(msg []byte) error {
	w.net.hold.Add(1)
	err := w.ws.Write(context.Background(), websocket.MessageText, msg)
	w.net.hold.Add(-1)
	return w.sent(err)
}

// Flush writes what SendBuffered held back.
func (w *wsConn) Flush() error { return w.sent(w.net.Flush()) }

// sent says why nothing can be sent any more. Only the reader knows the far
// side's reason; where it has not come yet, the error of the write must do.
func (w *wsConn) sent(err error) error {
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
func (w *wsConn) Close() error {
	return w.CloseWith(int(websocket.StatusNormalClosure), "")
}

// CloseWith says goodbye with a code and a reason and waits for the far side
// to answer, within the Config's CloseTimeout; then the connection is cut. A
// reason that is too long (123 bytes) is cut too.
func (w *wsConn) CloseWith(code int, reason string) error {
	w.closing.Do(func() {
		first := w.ended(&wire.CloseError{Clean: true, Err: net.ErrClosed})
		if f := wire.AsFault(first); f != nil && code == int(websocket.StatusNormalClosure) {
			code = int(websocket.StatusProtocolError) // where the library has not said so already
		}
		w.net.closing.Store(true)
		w.bye(websocket.StatusCode(code), cutReason(reason))
		w.cancel()
		w.keepAlive.Wait()
	})
	return nil
}

// stuckPatience is how long a library is waited for whose connection was closed under it.
const stuckPatience = 150 * time.Millisecond

// bye is bounded by closing the connection under the library: its own close
// waits 5 seconds for a silent far side. Should even that not help (a reader
// that is stuck in what OnIdle called), the library is left behind.
func (w *wsConn) bye(code websocket.StatusCode, reason string) {
	patience, cancel := Within(w.hurry, w.limit, 0)
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
		case <-time.After(stuckPatience):
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
func (w *wsConn) pings(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-t.C:
			w.ping(every)
		}
	}
}

// ping fails only when one read waited for the whole time: bytes of any kind
// are a sign of life, and a pong that we do not read is not the far side's fault.
func (w *wsConn) ping(limit time.Duration) {
	if !w.net.writable() {
		return // the library would give up a connection that is merely full
	}
	ctx, cancel := context.WithCancel(w.ctx)
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

// Remote returns the address of the far side; "" if it has none.
func (c *wsConn) Remote() string {
	if c.net == nil {
		return ""
	}
	return c.net.RemoteAddr().String()
}
