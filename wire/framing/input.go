package framing

import (
	"fmt"
	"io"
	"sync/atomic"

	"rpcx/wire"
)

const (
	bufferSize = 64 << 10 // what reading and writing start with
	bufferKept = 1 << 20  // a greater buffer is given back when its message is gone
)

// An input is a window on a stream of bytes: what has come and was not dropped.
// Its memory grows only as bytes come in.
type input struct {
	src   io.Reader
	max   int  // the greatest message
	whole bool // wire.Options.Whole
	idle  func()
	first func(b []byte)                   // gets what comes first; nil: nobody wants more of it
	shown int                              // how many bytes it got
	seen  func(d wire.Direction, b []byte) // wire.Options.Seen
	buf   []byte
	r, w  int // the window is buf[r:w]
	err   error

	closed atomic.Bool // nobody wants the rest
}

func newInput(src io.Reader, o wire.Options) *input {
	return &input{src: src, max: o.MaxMessage, whole: o.Whole, first: o.First, seen: o.Seen}
}

// window is valid until the next more or settle; what drop took off it,
// too.
func (in *input) window() []byte { return in.buf[in.r:in.w] }

// drop takes n bytes off the window's front.
func (in *input) drop(n int) { in.r += n }

// settle is called when no bytes handed out are in use any more: the buffer of
// a huge message is given back.
func (in *input) settle() {
	if len(in.buf) > bufferKept && in.w-in.r <= bufferSize/2 {
		in.moveTo(make([]byte, bufferSize))
	}
}

// more waits for at least one byte more, or returns why none will come.
func (in *input) more() error {
	if in.err != nil {
		return in.err
	}
	in.room()
	for range 100 {
		if in.idle != nil {
			in.idle()
		}
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
			return nil // an error that came along is met next time
		}
		if err != nil {
			return in.err
		}
	}
	in.err = closeError(io.ErrNoProgress)
	return in.err
}

// maxFirst is how many bytes count as those that come first.
const maxFirst = 1 << 10

// show hands on what comes first.
func (in *input) show(b []byte) {
	in.first(b)
	if in.shown += len(b); in.shown >= maxFirst {
		in.first = nil
	}
}

// cutOff returns the end of an input inside a message; detail says where.
func (in *input) cutOff(detail string, args ...any) error {
	detail = fmt.Sprintf(detail, args...)
	if in.whole {
		return &wire.CloseError{Err: fmt.Errorf("%w: %s", wire.ErrCut, detail)}
	}
	return broken("the input ended inside a message: %s", detail)
}

// room makes room behind the window: by going back to the buffer's start, by
// moving the window there, by a greater buffer.
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
		// A window over the limit is refused before it is full.
		in.moveTo(make([]byte, max(min(2*size, in.max+bufferSize), size+bufferSize)))
	}
}

func (in *input) moveTo(buf []byte) {
	n := copy(buf, in.window())
	in.buf, in.r, in.w = buf, 0, n
}

// skipMark drops a byte order mark, which some programs begin with.
func (in *input) skipMark() {
	const mark = "\ufeff"
	for n := range len(mark) {
		for len(in.window()) <= n {
			if in.more() != nil {
				return // it comes again
			}
		}
		if in.window()[n] != mark[n] {
			return
		}
	}
	in.drop(len(mark))
}
