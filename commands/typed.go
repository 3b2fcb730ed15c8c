package commands

import (
	"context"
	"strings"
	"sync"
	"time"

	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// typedLines are the lines of stdin, the first of which may be looked at before they are
// taken.
type typedLines struct {
	ctx  context.Context
	once sync.Once
	come chan typedLine
	end  error // why no more come; set when come is closed

	looked bool       // the first was waited for
	held   *typedLine // the first, which nobody has taken
}

type typedLine struct {
	n    int64
	text []byte
}

// firstLine is how long the first line of stdin is waited for before a peer is greeted: it
// may be a greeting of the user's own.
const firstLine = 2 * time.Second

// read begins to read stdin.
func (t *typedLines) read() {
	t.once.Do(func() {
		t.come = make(chan typedLine)
		go func() {
			defer wire.Guard()
			defer close(t.come)
			t.end = env.EachLine(t.ctx, func(n int64, line []byte) error {
				select {
				case t.come <- typedLine{n, line}:
					return nil
				case <-t.ctx.Done():
					return context.Cause(t.ctx)
				}
			})
		}()
	})
}

// method returns a function that says which method the first line calls, in the dialect of
// e; "" where it is not there in time.
func (t *typedLines) method(e endpoint.Endpoint) func(ctx context.Context) string {
	member := "method"
	if shape := e.Spec().Shape; shape != nil {
		member = shape().Method
	}
	return func(ctx context.Context) string {
		line := t.first(ctx)
		for name := range strings.SplitSeq(member, ".") {
			line = scan.Get(line, name)
		}
		return scan.String(line)
	}
}

// first returns the first line, where it is there in time. It stays to be taken.
func (t *typedLines) first(ctx context.Context) []byte {
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

// each calls take with each line, until take fails or no more come.
func (t *typedLines) each(take func(n int64, line []byte) error) error {
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
