package hook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// leaveTime is for a co-process to go by itself when its stdin is closed.
const leaveTime = 500 * time.Millisecond

// A coprocess answers all calls of a connection.
type coprocess struct {
	b      *Bound
	c      *chain
	p      *process
	lines  chan []byte   // to its stdin
	done   chan struct{} // closed when no answer comes any more
	stderr *tail

	mu      sync.Mutex
	how     string // after done: how it ended
	leaving bool   // we asked it to
	noisy   bool   // a line that is no answer was warned of
	last    int64  // id
	pending map[int64]chan coAnswer
}

type coAnswer struct {
	result json.RawMessage
	err    *wire.Error
}

// answerCo asks the co-process of a, which is started when there is none.
func (b *Bound) answerCo(ctx context.Context, c *chain, a *Answer, r dialect.Request) (json.RawMessage, error) {
	co, err := b.coprocess(c, a)
	switch {
	case err == errClosed:
		return nil, err
	case err != nil:
		return nil, b.t.fail(c, r.Method, "%v", err)
	}
	ctx, stop := b.bound(ctx, r)
	defer stop()
	line, id, answer := co.register(r)
	defer co.forget(id)
	select {
	case co.lines <- line:
	case <-co.done:
		return nil, co.died(r)
	case <-ctx.Done():
		return nil, b.coCut(ctx, c, r)
	}
	if r.Notification {
		return nil, nil
	}
	select {
	case got := <-answer:
		return co.take(r, got)
	case <-ctx.Done():
		return nil, b.coCut(ctx, c, r)
	case <-co.done:
	}
	select {
	case got := <-answer: // its last words
		return co.take(r, got)
	default:
	}
	return nil, co.died(r)
}

// take is the answer for the far side.
func (co *coprocess) take(r dialect.Request, got coAnswer) (json.RawMessage, error) {
	switch {
	case got.err != nil:
		return nil, got.err
	case got.result == nil:
		return nil, co.b.t.fail(co.c, r.Method, "answered with neither result nor error")
	}
	return got.result, nil
}

// coCut is the answer to a call that was not waited for to its end. The
// co-process lives on.
func (b *Bound) coCut(ctx context.Context, c *chain, r dialect.Request) error {
	if errors.Is(context.Cause(ctx), errLate) {
		return b.t.fail(c, r.Method, "out of time after %v", b.t.o.timeout(r.Stream))
	}
	return ctx.Err()
}

// coprocess returns the one of a that lives.
func (b *Bound) coprocess(c *chain, a *Answer) (*coprocess, error) {
	if co, err := b.living(a); co != nil || err != nil {
		return co, err
	}
	b.starting.Lock()
	defer b.starting.Unlock()
	if co, err := b.living(a); co != nil || err != nil {
		return co, err
	}
	p, err := startShell(a.Text, b.environ(b.newID(), nil))
	if err != nil {
		return nil, err
	}
	co := &coprocess{
		b: b, c: c, p: p, stderr: b.t.newTail(), pending: map[int64]chan coAnswer{},
		lines: make(chan []byte), done: make(chan struct{}),
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.coWG.Go(co.serve)
	if b.closed {
		b.wg.Go(co.leave)
		return nil, errClosed
	}
	b.cos[a] = co
	return co, nil
}

// living is the co-process of a, nil where there is none or it has ended.
func (b *Bound) living(a *Answer) (*coprocess, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosed
	}
	if co := b.cos[a]; co != nil && !over(co.done) {
		return co, nil
	}
	return nil, nil
}

// serve runs until the process has ended.
func (co *coprocess) serve() {
	var writer, stderr sync.WaitGroup
	writer.Go(co.write)
	stderr.Go(func() { copyTail(co.stderr, &pipe{f: co.p.stderr, exited: co.p.Done()}) })
	stderr.Go(func() {
		<-co.p.Done()
		co.p.hurry()
	})
	co.read()
	co.p.stdin.Close()
	select { // it may have closed its stdout only
	case <-co.p.Done():
	case <-time.After(leaveTime):
	}
	co.p.force()
	stderr.Wait()
	how, ok := co.p.ending()
	if last := co.stderr.last(); last != "" {
		how += ": " + last
	}
	co.mu.Lock()
	co.how = how
	warn := !ok && !co.leaving && len(co.pending) == 0
	co.mu.Unlock()
	close(co.done)
	writer.Wait()
	co.p.closePipes()
	if warn {
		co.b.t.warn(co.c, "", "the co-process %s", how)
	}
}

// died is the answer to a call that waited when the co-process ended.
func (co *coprocess) died(r dialect.Request) error {
	co.mu.Lock()
	how := co.how
	co.mu.Unlock()
	return co.b.t.fail(co.c, r.Method, "the co-process did not answer: it %s", how)
}

func (co *coprocess) write() {
	for {
		select {
		case line := <-co.lines:
			if _, err := co.p.stdin.Write(line); err != nil {
				return // it does not read any more; what it still says counts
			}
		case <-co.done:
			return
		}
	}
}

// leave lets the process go: stdin closed, then asked, then forced.
func (co *coprocess) leave() {
	co.mu.Lock()
	co.leaving = true
	co.mu.Unlock()
	co.p.stdin.Close()
	select {
	case <-co.p.Done():
	case <-time.After(leaveTime):
		co.p.End(grace)
	}
}

// register makes the line for r and waits for its answer under an id of our own.
func (co *coprocess) register(r dialect.Request) (line []byte, id int64, answer chan coAnswer) {
	answer = make(chan coAnswer, 1)
	line = append(line, '{')
	if !r.Notification {
		co.mu.Lock()
		co.last++
		id = co.last
		co.pending[id] = answer
		co.mu.Unlock()
		line = append(strconv.AppendInt(append(line, `"id":`...), id, 10), ',')
	}
	line = wire.AppendString(append(line, `"method":`...), r.Method)
	line = append(append(line, `,"params":`...), paramsLine(r.Params)...)
	line[len(line)-1] = '}'
	return append(line, '\n'), id, answer
}

func (co *coprocess) forget(id int64) {
	co.mu.Lock()
	defer co.mu.Unlock()
	delete(co.pending, id)
}

// read hands out answers until stdout ends.
func (co *coprocess) read() {
	lines := bufio.NewScanner(&pipe{f: co.p.stdout, exited: co.p.Done()})
	lines.Buffer(nil, maxOutput)
	for lines.Scan() {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			co.deliver(line)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		co.b.t.warn(co.c, "", "the co-process %v on one line", errTooLong)
	}
}

// deliver gives an answer to who waits for it. What nobody waits for any more is
// dropped.
func (co *coprocess) deliver(line []byte) {
	v, err := value(line)
	if err != nil || v[0] != '{' || scan.Type(scan.Get(v, "id")) != 'n' {
		co.mu.Lock()
		first := !co.noisy
		co.noisy = true
		co.mu.Unlock()
		if first {
			co.b.t.warn(co.c, "", "the co-process printed a line that is no answer: %q", cut(string(line), 80))
		}
		return
	}
	id, err := strconv.ParseInt(string(scan.Get(v, "id")), 10, 64)
	if err != nil {
		return
	}
	co.mu.Lock()
	answer := co.pending[id]
	delete(co.pending, id)
	co.mu.Unlock()
	if answer == nil {
		return
	}
	got := coAnswer{result: scan.Get(v, "result")}
	if e := scan.Get(v, "error"); e != nil && scan.Type(e) != '0' {
		got.err = asError(e)
	}
	answer <- got
}
