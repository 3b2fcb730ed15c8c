package format

import (
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

// A notifyWriter calls beforeWrite before each write.
type notifyWriter struct {
	io.Writer
	beforeWrite func()
}

func (h notifyWriter) Write(b []byte) (int, error) {
	h.beforeWrite()
	return h.Writer.Write(b)
}

// fault returns the first error of writing as a Fault, or nil. After an error, the writer only returns this error.
func (p *Pipeline) fault() error {
	if _, err := p.out.Write(nil); err != nil {
		return StdoutFault(err)
	}
	return nil
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

func hasBreak(b []byte) bool {
	return bytes.IndexByte(b, '\n') >= 0 || bytes.IndexByte(b, '\r') >= 0
}
