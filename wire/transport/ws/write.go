package ws

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"github.com/coder/websocket"
)

// ownFrame is the length, in bytes, of the longest message for which a client builds the frame itself. The library
// writes longer messages in many pieces.
const ownFrame = 16 << 10

// SendBuffered is like Send, but the message may stay in a buffer until Flush.
func (w *Conn) SendBuffered(msg []byte) error {
	if w.c.Around != nil {
		msg = w.c.Around.Close(msg)
	}
	return w.write(websocket.MessageText, msg)
}

// write queues one message.
func (w *Conn) write(typ websocket.MessageType, msg []byte) error {
	w.net.hold.Add(1)
	defer w.net.hold.Add(-1)
	w.sending.Lock()
	defer w.sending.Unlock()
	if typ == websocket.MessageText && w.frames != nil && w.end.Load() == nil {
		if ok, err := w.frames.writeText(msg); ok {
			return w.sent(err)
		}
	}
	return w.sent(w.ws.Write(context.Background(), typ, msg))
}

// SendBinary sends one binary message.
func (w *Conn) SendBinary(msg []byte) error {
	if err := w.write(websocket.MessageBinary, msg); err != nil {
		return err
	}
	return w.Flush()
}

// writeText writes a text message as one frame. ok is false if the library must write the message, because it is long or
// the connection is closing.
func (f *frameReader) writeText(msg []byte) (ok bool, err error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	if len(msg) > ownFrame || f.closeSent { // the library can tell why no more messages are accepted
		return false, nil
	}
	f.out = appendMasked(f.out[:0], msg, rand.Uint32())
	_, err = f.ReadWriteCloser.Write(f.out)
	return true, err
}

// Write implements io.Writer for the library. The library writes control frames, each with a single Write, and long
// messages.
func (f *frameReader) Write(p []byte) (int, error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	if len(p) > 0 && p[0] == wholeClose { // part of a message may begin with the same byte; then the library also writes the rest
		f.closeSent = true
	}
	return f.ReadWriteCloser.Write(p)
}

// wholeClose is the first byte of a close frame.
const wholeClose = 0x88

// appendMasked appends a text message as one frame with a mask, as clients must send it (RFC 6455, sections 5.2 and
// 5.3).
func appendMasked(b, msg []byte, key uint32) []byte {
	const masked = 0x80
	switch n := len(msg); {
	case n < 126:
		b = append(b, wholeText, masked|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, wholeText, masked|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, wholeText, masked|127), uint64(n))
	}
	b = binary.LittleEndian.AppendUint32(b, key)
	start := len(b)
	b = append(b, msg...)
	rest, twice := b[start:], uint64(key)<<32|uint64(key)
	for ; len(rest) >= 8; rest = rest[8:] {
		binary.LittleEndian.PutUint64(rest, binary.LittleEndian.Uint64(rest)^twice)
	}
	for i := range rest {
		rest[i] ^= byte(key >> (8 * (i & 3)))
	}
	return b
}
