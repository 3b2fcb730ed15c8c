package format

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"

	"rpcx/wire"
	"rpcx/wire/syserr"
)

// bufferSize is the size of the buffer for stdout, in bytes. rpcx writes the buffer when it is full or when no further
// message is waiting.
const bufferSize = 64 << 10

// output is a buffered writer. After a failure, it no longer writes.
type output struct {
	buf *bufio.Writer
	err error
}

func (o *output) init(w io.Writer, before func()) {
	if before != nil {
		w = notifyWriter{w, before}
	}
	o.buf = bufio.NewWriterSize(w, bufferSize)
}

// A notifyWriter calls beforeWrite before each write.
type notifyWriter struct {
	io.Writer
	beforeWrite func()
}

func (h notifyWriter) Write(b []byte) (int, error) {
	h.beforeWrite()
	return h.Writer.Write(b)
}

func (o *output) bytes(b []byte) {
	if o.err == nil {
		_, o.err = o.buf.Write(b)
	}
}

func (o *output) text(s string) {
	if o.err == nil {
		_, o.err = o.buf.WriteString(s)
	}
}

// end writes the character that ends a line, and returns the first failure.
func (o *output) end(c byte) error {
	if o.err == nil {
		o.err = o.buf.WriteByte(c)
	}
	return o.fault()
}

func (o *output) flush() {
	if o.err == nil && o.buf.Buffered() > 0 {
		o.err = o.buf.Flush()
	}
}

// fault returns the write error as a Fault, or nil.
func (o *output) fault() error {
	if o.err == nil {
		return nil
	}
	return StdoutFault(o.err)
}

// StdoutFault returns the failure for err, which is an error of writing to stdout: a Fault of kind PipeClosed or IO. It
// returns a Fault unchanged.
func StdoutFault(err error) *wire.Fault {
	if f := wire.AsFault(err); f != nil {
		return f
	}
	if syserr.BrokenPipe(err) || errors.Is(err, io.ErrClosedPipe) {
		return wire.NewFault(wire.PipeClosed, "stdout was closed by the program that reads it", err)
	}
	cause := err
	if path, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = path.Err
	}
	return wire.NewFault(wire.IO, "stdout: "+cause.Error(), err)
}

func small(b []byte) []byte {
	if cap(b) > 1<<20 {
		return nil
	}
	return b
}

func hasBreak(b []byte) bool {
	return bytes.IndexByte(b, '\n') >= 0 || bytes.IndexByte(b, '\r') >= 0
}
