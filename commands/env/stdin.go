package env

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
)

// Stdin returns the standard input. Reading starts with the first Read. When ctx ends, a blocked Read returns ctx's
// cause. The goroutine that reads the descriptor remains, because no call can interrupt its read.
func Stdin(ctx context.Context) io.Reader {
	pipe := sync.OnceValue(func() io.Reader {
		in, out := io.Pipe()
		go readAll(out)
		context.AfterFunc(ctx, func() { out.CloseWithError(context.Cause(ctx)) })
		return in
	})
	return readFunc(func(b []byte) (int, error) { return pipe().Read(b) })
}

// A readFunc is a function that implements io.Reader.
type readFunc func(b []byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

// readAll copies stdin into a pipe. It may outlive the pipe's reader, because a read of stdin cannot be interrupted.
func readAll(out *io.PipeWriter) {
	_, err := io.Copy(out, os.Stdin)
	out.CloseWithError(err)
}

// EachLine calls take with the number and the content of each line of stdin that is not blank. It stops when take
// fails, ctx ends or a line is longer than any message. The last line may lack a line break.
func EachLine(ctx context.Context, take func(n int64, line []byte) error) error {
	return EachLineAhead(ctx, func() {}, func(n int64, line []byte) error { return take(n, bytes.Clone(line)) })
}

// EachLineAhead is like EachLine, but for a take that does not retain the line. It calls waits before each read of
// stdin, which may block.
func EachLineAhead(ctx context.Context, waits func(), take func(n int64, line []byte) error) error {
	stdin := Stdin(ctx)
	in := bufio.NewReaderSize(readFunc(func(b []byte) (int, error) {
		waits()
		return stdin.Read(b)
	}), 64<<10)
	for n := int64(1); ; n++ {
		line, err := readLine(in)
		if len(line) > wire.DefaultMaxMessage {
			return wire.NewFault(wire.Usage, fmt.Sprintf("line %d of stdin is longer than %d bytes", n, wire.DefaultMaxMessage), nil)
		}
		if n == 1 {
			line = userfile.Unmarked(line)
		}
		if line = scan.Trim(line); len(line) > 0 {
			if err := take(n, line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return stdinFault(ctx, err)
		}
	}
}

// readLine reads a line with its line break, which is valid until the next call. It cuts a line that is longer than any
// message to a length that is still too long.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line == nil && !errors.Is(err, bufio.ErrBufferFull) {
			return part, err
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > wire.DefaultMaxMessage {
			return line, err
		}
	}
}

// ReadStdin reads stdin to its end. Input of more than wire.DefaultMaxMessage bytes is a usage Fault.
func ReadStdin(ctx context.Context) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(Stdin(ctx), wire.DefaultMaxMessage+1))
	switch {
	case err != nil:
		return nil, stdinFault(ctx, err)
	case len(b) > wire.DefaultMaxMessage:
		return nil, wire.NewFault(wire.Usage, fmt.Sprintf("stdin has more than %d bytes", wire.DefaultMaxMessage), nil)
	}
	return userfile.Unmarked(b), nil
}

func stdinFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return Cause(ctx, ctx.Err())
	}
	return wire.NewFault(wire.IO, "reading stdin: "+err.Error(), err)
}

// Lines reads the lines of stdin. The first line can be read without consuming it.
type Lines struct {
	ctx   context.Context
	once  sync.Once
	lines chan stdinLine
	end   error // why reading ended; set before lines is closed

	waited bool       // first has waited for the first line
	peeked *stdinLine // the line that first has read, or nil
}

type stdinLine struct {
	n    int64
	text []byte
}

// firstLine bounds the wait for the first line of stdin before a handshake, because the line may be the user's own
// handshake.
const firstLine = 2 * time.Second

// read starts reading stdin.
func (t *Lines) read() {
	t.once.Do(func() {
		t.lines = make(chan stdinLine)
		go func() {
			defer wire.Guard()
			defer close(t.lines)
			t.end = EachLine(t.ctx, func(n int64, line []byte) error {
				select {
				case t.lines <- stdinLine{n, line}:
					return nil
				case <-t.ctx.Done():
					return context.Cause(t.ctx)
				}
			})
		}()
	})
}

// NewLines returns the lines of stdin. ctx ends the reading.
func NewLines(ctx context.Context) *Lines { return &Lines{ctx: ctx} }

// Method returns a function that returns the method of the first line, a message in the dialect of spec, or "" if no
// line arrives in time.
func (t *Lines) Method(spec dialect.Spec) func(ctx context.Context) string {
	member := "method"
	if spec.Shape != nil {
		member = spec.Shape().Method
	}
	return t.MethodAt(member)
}

// MethodAt is like Method, but for messages with the method at a dotted path.
func (t *Lines) MethodAt(path string) func(ctx context.Context) string {
	return func(ctx context.Context) string {
		line := t.first(ctx)
		for name := range strings.SplitSeq(path, ".") {
			line = scan.Get(line, name)
		}
		return scan.String(line)
	}
}

// first returns the first line without consuming it, if it arrives in time.
func (t *Lines) first(ctx context.Context) []byte {
	t.read()
	if t.peeked == nil && !t.waited {
		t.waited = true
		select {
		case line, ok := <-t.lines:
			if ok {
				t.peeked = &line
			}
		case <-time.After(firstLine):
		case <-ctx.Done():
		}
	}
	if t.peeked == nil {
		return nil
	}
	return t.peeked.text
}

// Each calls take with each line until take fails or stdin ends.
func (t *Lines) Each(take func(n int64, line []byte) error) error {
	t.read()
	if t.peeked != nil {
		if err := take(t.peeked.n, t.peeked.text); err != nil {
			return err
		}
	}
	for line := range t.lines {
		if err := take(line.n, line.text); err != nil {
			return err
		}
	}
	return t.end
}
