package hook

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A coprocess answers all calls that one hook receives on a connection.
type coprocess struct {
	*LineProcess
	b *ConnectionHooks
	c *chain

	noisy sync.Once // the user is warned about a line that answers no call

	mu      sync.Mutex
	last    int64 // the last call's id
	pending map[int64]chan coAnswer
}

type coAnswer struct {
	result json.RawMessage
	err    *wire.Error
}

// answerCo calls the co-process of a. It starts the co-process if necessary.
func (b *ConnectionHooks) answerCo(ctx context.Context, c *chain, a *Answer, r dialect.Request) (json.RawMessage, error) {
	owner := b
	if b.binding.SingleExchange {
		owner = b.t.shared()
	}
	co, err := owner.coprocess(c, a)
	switch {
	case err == errClosed:
		return nil, err
	case err != nil:
		return nil, b.fail(c, r.Method, "%v", err)
	}
	ctx, stop := b.bound(ctx, r)
	defer stop()
	line, id, answer := co.register(r)
	defer co.forget(id)
	if !co.Send(ctx.Done(), line) {
		if ctx.Err() != nil {
			return nil, b.stopped(ctx, c, r)
		}
		return nil, co.died(r)
	}
	if r.Notification {
		return nil, nil
	}
	select {
	case got := <-answer:
		return co.take(r, got)
	case <-ctx.Done():
		return nil, b.stopped(ctx, c, r)
	case <-co.Done():
	}
	select {
	case got := <-answer: // the answer that it wrote before it ended
		return co.take(r, got)
	default:
	}
	return nil, co.died(r)
}

// take converts an answer from the co-process to an answer for the peer.
func (co *coprocess) take(r dialect.Request, got coAnswer) (json.RawMessage, error) {
	switch {
	case got.err != nil:
		return nil, got.err
	case got.result == nil:
		return nil, co.b.fail(co.c, r.Method, "answered with neither result nor error")
	}
	return got.result, nil
}

// coprocess returns the running co-process of a. It starts one if necessary.
func (b *ConnectionHooks) coprocess(c *chain, a *Answer) (*coprocess, error) {
	b.starting.Lock()
	defer b.starting.Unlock()
	co := b.cos[a]
	switch {
	case b.ctx.Err() != nil:
		return nil, errClosed
	case co != nil && !wire.IsClosed(co.Done()):
		return co, nil
	}
	t, err := startLineProcess(b.t.o.Hurry, a.Text, b.environ(b.newID(), nil), b.t.newTail())
	if err != nil {
		return nil, err
	}
	co = &coprocess{LineProcess: t, b: b, c: c, pending: map[int64]chan coAnswer{}}
	b.cos[a] = co
	b.coWG.Go(co.serve)
	return co, nil
}

// serve runs until the process has ended. When the connection is closed, it stops the process.
func (co *coprocess) serve() {
	defer wire.Guard()
	defer context.AfterFunc(co.b.ctx, func() { co.Stop(nil) })()
	err := co.Run(co.deliver, func() {
		how, ok := co.Result()
		co.mu.Lock()
		idle := len(co.pending) == 0
		co.mu.Unlock()
		if !ok && idle { // otherwise the pending calls report the failure
			co.b.warn(co.c, "", "the co-process %s", how)
		}
	})
	if err != nil {
		co.b.warn(co.c, "", "the co-process %v on one line", err)
	}
}

// died returns the error for a call that was pending when the co-process ended.
func (co *coprocess) died(r dialect.Request) error {
	how, _ := co.Result()
	return co.b.fail(co.c, r.Method, "the co-process did not answer: it %s", how)
}

// register returns the line for r with a new id, and the channel for its answer.
func (co *coprocess) register(r dialect.Request) (line []byte, id int64, answer chan coAnswer) {
	answer = make(chan coAnswer, 1)
	var o scan.Object
	if !r.Notification {
		co.mu.Lock()
		co.last++
		id = co.last
		co.pending[id] = answer
		co.mu.Unlock()
		o.Int("id", id)
	}
	o.Text("method", r.Method)
	params := paramsLine(r.Params)
	o.Add("params", params[:len(params)-1])
	for _, name := range slices.Sorted(maps.Keys(r.Vars)) { // the variables that a command has in its environment, such as RPCX_OBJECT
		o.SomeText(strings.ToLower(strings.TrimPrefix(name, "RPCX_")), r.Vars[name])
	}
	return append(o.End(), '\n'), id, answer
}

func (co *coprocess) forget(id int64) {
	co.mu.Lock()
	defer co.mu.Unlock()
	delete(co.pending, id)
}

// deliver passes an answer to its pending call. It ignores an answer to a call that is no longer pending. The first line that answers
// no call causes a warning.
func (co *coprocess) deliver(line []byte) {
	v, noJSON := value(line)
	id, noID := strconv.ParseInt(string(scan.Canonical(scan.Get(v, "id"))), 10, 64)
	co.mu.Lock()
	answer, known := co.pending[id], noJSON == nil && noID == nil && id > 0 && id <= co.last
	delete(co.pending, id)
	co.mu.Unlock()
	if !known {
		co.noisy.Do(func() {
			co.b.warn(co.c, "", "the co-process printed a line that answers no call: %q", cut(string(line), 80))
		})
	}
	if !known || answer == nil {
		return
	}
	got := coAnswer{result: scan.Get(v, "result")}
	if e := scan.Get(v, "error"); e != nil && scan.Type(e) != '0' {
		got.err = asError(e)
	}
	answer <- got
}
