package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

const defaultJobs = 16

// A batch makes many calls, read as lines, over one connection.
type batch struct {
	app    *app
	o      *callOptions
	conv   session.Conversation
	cat    *catalog.Catalog
	print  *format.Pipeline
	failed bool  // some line got an error
	lost   error // the connection ended, or time did
	mu     sync.Mutex
}

// job is one line and the place of its answer.
type job struct {
	number int64
	line   []byte
	done   chan struct{}
	answer json.RawMessage
}

func runBatch(ctx context.Context, a *app, o *callOptions, e session.Endpoint, cat *catalog.Catalog) (err error) {
	print, err := a.printer(&o.out, format.Options{})
	if err != nil {
		return err
	}
	if o.params.dryRun {
		return wire.NewFault(wire.Usage, "--dry-run shows one call, not a --batch", nil)
	}
	cl := start(ctx, time.Duration(o.time.timeout), 0)
	defer cl.stop()
	conv, err := a.open(cl.ctx, e, &o.clientFlags, cat, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(conv, &o.hooks, err)) }()
	b := &batch{app: a, o: o, conv: conv, cat: cat, print: print}
	if err := b.run(cl.ctx); err != nil {
		return err
	}
	err = print.Finish()
	if b.failed && o.out.expectError == "" {
		err = errors.Join(err, wire.NewFault(wire.RPCError, "some calls of the batch failed", nil))
	}
	return err
}

// run reads lines, keeps at most --jobs calls in flight, and prints in the
// order of the lines, or with --unordered as answers come.
func (b *batch) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := int(b.o.jobs)
	if jobs <= 0 {
		jobs = defaultJobs
	}
	work := make(chan *job)
	ordered := make(chan *job, jobs)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() { b.work(ctx, cancel, work) })
	}
	printed := make(chan error, 1)
	go func() { printed <- b.printOrdered(ctx, cancel, ordered) }()
	err := b.feed(ctx, work, ordered)
	close(work)
	workers.Wait()
	close(ordered)
	return errors.Join(err, <-printed, b.cause(ctx))
}

// cause is why the batch ended early; nil when it did not.
func (b *batch) cause(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	if f := wire.AsFault(context.Cause(ctx)); f != nil {
		return f
	}
	return ctx.Err()
}

// feed reads stdin.
func (b *batch) feed(ctx context.Context, work, ordered chan<- *job) error {
	in := stdin()
	for n := int64(1); ; n++ {
		line, err := readLine(in)
		if line = trimBlank(line); len(line) > 0 {
			j := &job{number: n, line: line, done: make(chan struct{})}
			if !b.o.unordered && !give(ctx, ordered, j) {
				return nil
			}
			if !give(ctx, work, j) {
				close(j.done)
				return nil
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return wire.NewFault(wire.IO, "reading stdin: "+err.Error(), err)
		}
	}
}

func give(ctx context.Context, to chan<- *job, j *job) bool {
	select {
	case to <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

func (b *batch) work(ctx context.Context, cancel context.CancelCauseFunc, work <-chan *job) {
	for j := range work {
		j.answer = b.call(ctx, cancel, j)
		close(j.done)
		if b.o.unordered && j.answer != nil {
			if stop, err := b.emit(ctx, j); stop || err != nil {
				cancel(err)
			}
		}
	}
}

func (b *batch) printOrdered(ctx context.Context, cancel context.CancelCauseFunc, ordered <-chan *job) error {
	var first error
	for j := range ordered {
		select {
		case <-j.done:
		default:
			b.print.Idle()
			<-j.done
		}
		if first != nil || j.answer == nil {
			continue
		}
		if stop, err := b.emit(ctx, j); stop || err != nil {
			first = err
			cancel(err)
		}
	}
	return first
}

func (b *batch) emit(ctx context.Context, j *job) (bool, error) {
	stop, err := b.print.Print(context.WithoutCancel(ctx), wire.Message{Raw: j.answer}, wire.Event{Kind: wire.Data, Data: j.answer})
	if b.o.unordered {
		b.print.Idle()
	}
	return stop, err
}

// call makes the call of one line and returns its answer as a line; nil when
// the batch has come to an end.
func (b *batch) call(ctx context.Context, cancel context.CancelCauseFunc, j *job) json.RawMessage {
	op, id, err := b.read(j)
	if err == nil {
		var result json.RawMessage
		if result, err = b.result(ctx, op); err == nil {
			return answerLine(id, "result", result)
		}
	}
	var rpc *wire.Error
	if f := wire.AsFault(err); f != nil && f.RPC != nil {
		rpc = f.RPC
	} else if !errors.As(err, &rpc) {
		if f == nil || f.Kind != wire.Timeout {
			cancel(toFault(why(ctx, err)))
			return nil
		}
		rpc = wire.NewError(wire.CodeServer, f.Message)
	}
	b.mu.Lock()
	b.failed = true
	b.mu.Unlock()
	return answerLine(id, "error", rpc.JSON())
}

func answerLine(id []byte, member string, value json.RawMessage) json.RawMessage {
	if value == nil {
		value = json.RawMessage("null")
	}
	line := append([]byte(`{"id":`), id...)
	line = append(append(append(line, `,"`...), member...), `":`...)
	return scan.Compact(line, append(bytes.Clone(value), '}'))
}

// read takes a line apart.
func (b *batch) read(j *job) (op dialect.Op, id []byte, err error) {
	id = strconv.AppendInt(nil, j.number, 10)
	if err := scan.Valid(j.line, wire.DefaultMaxDepth); err != nil || scan.Type(j.line) != 'o' {
		return op, id, wire.Errorf(wire.CodeParse, "line %d is no JSON object", j.number)
	}
	if given := scan.Get(j.line, "id"); given != nil {
		id = given
	}
	method, ok := scan.Text(scan.Get(j.line, "method"))
	if !ok {
		return op, id, wire.Errorf(wire.CodeInvalidRequest, `line %d has no "method"`, j.number)
	}
	op = dialect.Op{Kind: dialect.Call, Method: method, Params: scan.Get(j.line, "params")}
	if b.cat == nil || b.o.params.noCheck {
		return op, id, nil
	}
	typer, err := params.ForMethod(b.cat, method, b.app.console.Warn)
	if err == nil {
		err = typer.Check(op.Params)
	}
	if err != nil {
		return op, id, wire.NewError(wire.CodeInvalidParams, err.Error())
	}
	return op, id, nil
}

// result makes one call; a stream's data become an array.
func (b *batch) result(ctx context.Context, op dialect.Op) (json.RawMessage, error) {
	idle := time.Duration(b.o.time.idle)
	if idle == 0 {
		idle = defaultIdle
	}
	cl := start(ctx, 0, idle)
	defer cl.stop()
	st, err := b.conv.Open(cl.ctx, op)
	if err != nil {
		return nil, why(cl.ctx, err)
	}
	var all []json.RawMessage
	single := true
	for {
		m, err := st.Next(cl.ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, b.abandon(cl.ctx, st, err)
		}
		cl.touch()
		ev, err := b.conv.Event(m)
		if err != nil {
			return nil, err
		}
		if ev.Kind == wire.Failure {
			return nil, ev.Err.Clone()
		}
		if ev.Kind == wire.Data {
			single = single && m.Kind == wire.Response
			all = append(all, bytes.Clone(ev.Data))
		}
	}
	if single && len(all) == 1 {
		return all[0], nil
	}
	return json.Marshal(all)
}

// abandon gives a call up.
func (b *batch) abandon(ctx context.Context, st dialect.Stream, err error) error {
	if ctx.Err() != nil {
		bye, done := goodbye(ctx)
		defer done()
		_ = st.Cancel(bye)
	}
	return why(ctx, err)
}

// readLine reads a line of any length, with or without its end.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	if len(line) > wire.DefaultMaxMessage {
		return nil, fmt.Errorf("a line is longer than %d bytes", wire.DefaultMaxMessage)
	}
	return line, err
}

func readAll(in io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, wire.DefaultMaxMessage+1))
	if err == nil && len(b) > wire.DefaultMaxMessage {
		err = fmt.Errorf("more than %d bytes", wire.DefaultMaxMessage)
	}
	return b, err
}

func trimBlank(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }
