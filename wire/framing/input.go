package framing

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"

	"rpcx/wire"
)

const (
	bufferSize = 64 << 10 // the initial size for reading and writing
	bufferKept = 1 << 20  // in bytes; a larger buffer is released after its message
)

// An input is a window on a byte stream: the bytes that have arrived and have not been dropped. Its memory grows only
// when bytes arrive.
type input struct {
	src   io.Reader
	max   int  // the maximum size of a message
	whole bool // wire.Options.Whole
	idle  func()
	first func(b []byte)                   // receives the first bytes; then nil
	shown int                              // the number of bytes that first received
	seen  func(d wire.Direction, b []byte) // wire.Options.Seen
	buf   []byte
	r, w  int  // the window is buf[r:w]
	begun bool // a byte order mark has been skipped, or the first bytes cannot be one
	err   error

	closed atomic.Bool // set when the rest of the input is no longer needed
}

// window returns bytes that stay valid until the next call of more or settle, even after drop.
func (in *input) window() []byte { return in.buf[in.r:in.w] }

// drop removes n bytes from the start of the window.
func (in *input) drop(n int) { in.r += n }

// settle releases the buffer of a large message. The caller must no longer use bytes from window.
func (in *input) settle() {
	if len(in.buf) > bufferKept && in.w-in.r <= bufferSize/2 {
		in.moveTo(make([]byte, bufferSize))
	}
}

// more waits for at least one more byte, or returns the read error.
func (in *input) more() error {
	if in.err != nil {
		return in.err
	}
	if in.idle != nil {
		in.idle() // before room, because idle needs the last message at its place
	}
	in.room()
	for range 100 {
		n, err := in.src.Read(in.buf[in.w:])
		in.w += n
		if in.first != nil && n > 0 {
			in.show(in.buf[in.w-n : in.w])
		}
		if in.seen != nil && n > 0 {
			in.seen(wire.Recv, in.buf[in.w-n:in.w])
		}
		in.err = closeError(err)
		if n > 0 {
			return nil // the next read returns the error again
		}
		if err != nil {
			return in.err
		}
	}
	in.err = closeError(io.ErrNoProgress)
	return in.err
}

// maxFirst is the number of bytes, approximately, that Options.First receives.
const maxFirst = 1 << 10

func (in *input) show(b []byte) {
	in.first(b)
	if in.shown += len(b); in.shown >= maxFirst {
		in.first = nil
	}
}

// cutOff returns the error for an input that ends inside a message. detail describes the place.
func (in *input) cutOff(detail string, args ...any) error {
	detail = fmt.Sprintf(detail, args...)
	if in.whole {
		return &wire.CloseError{Err: fmt.Errorf("%w: %s", wire.ErrCut, detail)}
	}
	return broken("the input ended inside a message: %s", detail)
}

// room makes room for more bytes after the window. It resets an empty window, moves the window to the start of the
// buffer, or allocates a larger buffer.
func (in *input) room() {
	size := len(in.buf)
	switch {
	case size == 0:
		in.buf = make([]byte, bufferSize)
	case in.r == in.w:
		in.r, in.w = 0, 0
	case in.r > 0 && size-in.w < size/8:
		in.moveTo(in.buf)
	case in.w == size:
		// Before a window fills this buffer, it exceeds the maximum size of a message and is rejected.
		in.moveTo(make([]byte, max(min(2*size, in.max+bufferSize), size+bufferSize)))
	}
}

func (in *input) moveTo(buf []byte) {
	n := copy(buf, in.window())
	in.buf, in.r, in.w = buf, 0, n
}

// body waits for a message of size bytes and what follows it, all bytes in total, and drops them.
func (in *input) body(size, all int) ([]byte, error) {
	for len(in.window()) < all {
		if err := in.more(); err == io.EOF {
			return nil, in.cutOff("%d of %d bytes were received", len(in.window()), size)
		} else if err != nil {
			return nil, err
		}
	}
	in.drop(all)
	return in.buf[in.r-all : in.r], nil
}

// lineEnd returns the index of the first LF in b, or -1.
func lineEnd(b []byte) int { return bytes.IndexByte(b, '\n') }

// until drops and returns the bytes before the first end at or after index at of the window. find returns the index of an
// end, or -1. If reading fails first, until drops and returns all bytes, with the error. If there are more than most
// bytes, it drops none and returns nil, with the error for a long message.
func (in *input) until(at, most int, find func([]byte) int) ([]byte, error) {
	for {
		b := in.window()
		end := find(b[at:])
		if end >= 0 {
			b = b[:at+end]
		}
		if at = len(b); at > most {
			return nil, wire.TooLong(in.max)
		}
		if end >= 0 {
			in.drop(at)
			return b, nil
		}
		if err := in.more(); err != nil {
			in.drop(at)
			return in.buf[in.r-at : in.r], err
		}
	}
}

// skipMark drops a byte order mark at the start of the input, which some programs send first.
func (in *input) skipMark() {
	if in.begun {
		return
	}
	in.begun = true
	const mark = "\ufeff"
	for n := range len(mark) {
		for len(in.window()) <= n {
			if in.more() != nil {
				return // the next read returns the error again
			}
		}
		if in.window()[n] != mark[n] {
			return
		}
	}
	in.drop(len(mark))
}
