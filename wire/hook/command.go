package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// An outcome describes how a command ended.
type outcome struct {
	value   []byte      // its stdout; if it prints lines, the last data
	err     *wire.Error // if it prints lines: the last error unless data followed
	exit    int
	signal  string
	start   error // why the command could not be started
	feed    error // why its stdout could not be read to the end
	stopped bool  // rpcx stopped the command, because its context ended
	stderr  *tail
}

// answerCommand runs a command for one request.
func (b *ConnectionHooks) answerCommand(ctx context.Context, c *chain, a *Answer, r dialect.Request) (json.RawMessage, error) {
	id, release, err := b.hold(ctx, a.Kind == Lines && r.Stream && !r.Whole && !r.Notification)
	if err == errTooManyStreams {
		b.warn(c, r.Method, "refused a stream: %d streams in total, or %d for this client, are already running", MaxStreams, maxClientStreams)
		return nil, wire.NewError(wire.CodeServer, "too many streams: try again later")
	}
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, stop := b.bound(ctx, r)
	defer stop()
	o := &outcome{stderr: b.t.newTail()}
	feed := o.readAll
	if a.Kind == Lines {
		feed = func(stdout io.Reader) error { return o.readLines(stdout, r) }
	}
	b.run(ctx, o, a.Text, b.environ(id, &r), paramsLine(r.Params), feed)
	return b.result(ctx, c, a, r, o)
}

// paramsLine returns params on one line, or null if there are none.
func paramsLine(params json.RawMessage) []byte {
	if params == nil {
		return []byte("null\n")
	}
	return append(scan.Compact(nil, params), '\n')
}

var errTooLong = errors.New("printed more than 64 MiB")

func (o *outcome) readAll(stdout io.Reader) error {
	var buf bytes.Buffer
	_, err := buf.ReadFrom(io.LimitReader(stdout, maxOutput+1))
	if o.value = buf.Bytes(); buf.Len() > maxOutput {
		return errTooLong
	}
	return err
}

// run starts command, writes stdin to it, lets feed read its stdout, and stores the outcome in o. It returns after the
// command has ended. If ctx ends or feed fails first, run kills the command's process group. Background processes of
// the command continue until Close.
func (b *ConnectionHooks) run(ctx context.Context, o *outcome, command string, env []string, stdin []byte, feed func(io.Reader) error) {
	p, err := startShell(b.t.o.Hurry, command, env)
	if err != nil {
		o.start = err
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		p.stdin.Write(stdin) // a command does not have to read its stdin
		p.stdin.Close()
	})
	wg.Go(func() { copyTail(o.stderr, &pipe{f: p.stderr, exited: p.Done()}) })
	fed := make(chan error, 1)
	go func() {
		defer wire.Guard()
		fed <- feed(&pipe{f: p.stdout, exited: p.Done()})
	}()

	exited, cancelled, feeding := p.Done(), ctx.Done(), true
	for exited != nil || feeding {
		select {
		case <-exited:
			exited = nil
			p.wakeReaders()
		case <-cancelled:
			cancelled = nil
			o.stopped = true
			exited = p.force()
		case err := <-fed:
			feeding = false
			if o.feed = err; err != nil && !left(err) {
				exited = p.force()
			}
		}
	}
	p.stdin.Close()
	wg.Wait()
	p.closePipes()
	o.exit, o.signal = p.Status()
	if left(o.feed) {
		o.feed = nil
	}
	if p.LeftBehind() {
		b.wg.Go(func() { b.keep(p.Process) })
	}
}

// force kills p's process group and stops reading its pipes. It returns nil, which replaces the channel that led to the
// call.
func (p *process) force() <-chan struct{} {
	p.EndWithin(p.patience, grace)
	if wire.IsClosed(p.Done()) {
		p.wakeReaders()
	} else {
		p.closePipes() // no signal can end the process
	}
	return nil
}
