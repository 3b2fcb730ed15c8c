package ws

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/coder/websocket"

	"rpcx/wire"
)

// The receive buffer is small at first. It becomes small again after a message that was much larger than those that
// follow.
const (
	smallMessage = 64 << 10
	largeMessage = 1 << 20
)

// Recv returns the next text message, or the next binary message if the dialect allows these. A message can be empty. Recv
// never uses the context of a caller, because the library would close the connection when that ends.
func (w *Conn) Recv() ([]byte, error) {
	for len(w.more) == 0 {
		text, err := w.recv()
		if err != nil || w.c.Around == nil {
			return text, err
		}
		w.more = w.c.Around.Open(text)
	}
	msg := w.more[0]
	w.more = w.more[1:]
	return msg, nil
}

func (w *Conn) recv() ([]byte, error) {
	w.net.phase.CompareAndSwap(0, inRecv)
	defer w.net.phase.CompareAndSwap(inRecv, 0)
	if w.framed() {
		if msg, ok := w.frames.Message(w.c.Binary == wire.BinaryAccept, w.c.MaxMessage); ok {
			if cap(w.buf) > largeMessage {
				w.buf = nil
			}
			return w.observeFirst(msg), nil
		}
	}
	for {
		typ, r, err := w.ws.Reader(context.Background())
		if err != nil {
			return nil, w.received(err)
		}
		msg, err := w.read(r)
		if err != nil {
			return nil, w.received(err)
		}
		if typ != websocket.MessageBinary || w.c.Binary == wire.BinaryAccept {
			return w.observeFirst(msg), nil
		}
		if w.c.Binary == wire.BinaryRefuse {
			err := w.ended(wire.NewFault(wire.Protocol, "the peer sent a binary message, which this dialect does not use", nil))
			w.CloseWith(int(websocket.StatusUnsupportedData), "binary messages are not supported")
			return nil, err
		}
	}
}

// Buffered implements wire.Buffered.
func (w *Conn) Buffered(msgs [][]byte, most int) [][]byte {
	if !w.framed() || w.c.Around != nil {
		return msgs
	}
	return w.frames.Buffered(msgs, most, w.c.Binary == wire.BinaryAccept, w.c.MaxMessage)
}

// framed reports whether messages can be read from frames, without the library.
func (w *Conn) framed() bool { return w.frames != nil && w.net.phase.Load() != closing }

// read reads one message into the buffer, which grows with the bytes that arrive, whatever length was announced.
func (w *Conn) read(r io.Reader) ([]byte, error) {
	if cap(w.buf) > largeMessage && len(w.buf) < cap(w.buf)/4 || w.buf == nil {
		w.buf = make([]byte, 0, smallMessage)
	}
	b := w.buf[:0]
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			w.buf = b
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(2*cap(b), w.c.MaxMessage+1)), b...)
		}
	}
}

// ended stores err as the reason of the end if there is none yet, and returns the stored reason.
func (w *Conn) ended(err error) error {
	w.end.CompareAndSwap(nil, &err)
	return *w.end.Load()
}

// received converts an error of the library to the error for the end of the connection. If the underlying connection
// has not failed, the peer has violated the protocol.
func (w *Conn) received(err error) error {
	switch ce, ok := errors.AsType[websocket.CloseError](err); {
	case w.end.Load() != nil:
		return *w.end.Load()
	case errors.Is(err, websocket.ErrMessageTooBig):
		return w.ended(wire.TooLong(w.c.MaxMessage))
	case errors.Is(err, errHuge):
		return w.ended(wire.NewFault(wire.Protocol, wire.TooLong(w.c.MaxMessage).Error(), errHuge))
	case errors.Is(err, errMasked):
		return w.ended(wire.NewFault(wire.Protocol, errMasked.Error(), err))
	case ok:
		clean := ce.Code == websocket.StatusNormalClosure || ce.Code == websocket.StatusGoingAway ||
			ce.Code == websocket.StatusNoStatusRcvd // the close frame had no code
		return w.ended(&wire.CloseError{Code: int(ce.Code), Reason: ce.Reason, Clean: clean})
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return w.ended(&wire.CloseError{Err: errNoCloseFrame})
	case errors.Is(err, net.ErrClosed):
		return w.ended(&wire.CloseError{Err: errNotRead}) // this is the library's own limit
	case w.net.failed() != nil:
		return w.ended(&wire.CloseError{Err: w.net.failed()})
	}
	what := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "failed to get reader: "), "failed to read: ")
	return w.ended(wire.NewFault(wire.Protocol, "broken WebSocket message: "+what, err))
}
