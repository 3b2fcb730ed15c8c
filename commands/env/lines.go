package env

import (
	"context"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Lines are the lines of stdin. The first line can be read without being consumed.
type Lines struct {
	ctx  context.Context
	once sync.Once
	come chan stdinLine
	end  error // the reason for the end; set when come is closed

	looked bool       // first has waited for the first line
	held   *stdinLine // the first line, if first has read it
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
		t.come = make(chan stdinLine)
		go func() {
			defer wire.Guard()
			defer close(t.come)
			t.end = EachLine(t.ctx, func(n int64, line []byte) error {
				select {
				case t.come <- stdinLine{n, line}:
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

// MethodAt is Method for messages with the method at the dotted path.
func (t *Lines) MethodAt(path string) func(ctx context.Context) string {
	return func(ctx context.Context) string {
		line := t.first(ctx)
		for name := range strings.SplitSeq(path, ".") {
			line = scan.Get(line, name)
		}
		return scan.String(line)
	}
}

// first returns the first line, if one arrives in time, without consuming it.
func (t *Lines) first(ctx context.Context) []byte {
	t.read()
	if t.held == nil && !t.looked {
		t.looked = true
		select {
		case line, ok := <-t.come:
			if ok {
				t.held = &line
			}
		case <-time.After(firstLine):
		case <-ctx.Done():
		}
	}
	if t.held == nil {
		return nil
	}
	return t.held.text
}

// Each calls take with each line, until take fails or stdin ends.
func (t *Lines) Each(take func(n int64, line []byte) error) error {
	t.read()
	if t.held != nil {
		if err := take(t.held.n, t.held.text); err != nil {
			return err
		}
	}
	for line := range t.come {
		if err := take(line.n, line.text); err != nil {
			return err
		}
	}
	return t.end
}
