package format

import (
	"context"
	"encoding/json"
	"runtime"

	"rpcx/wire"
	"rpcx/wire/jq/ahead"
)

// This file applies the user's jq programs in a Pipeline: --select chooses messages, and --jq converts each line to
// other lines.

// Selects reports whether --select accepts m. Print checks the same; Selects is for commands that do more with a
// message than print it.
func (p *Pipeline) Selects(ctx context.Context, m *wire.Message) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.selects(ctx, m)
}

func (p *Pipeline) selects(ctx context.Context, m *wire.Message) (bool, error) {
	if p.sel == nil {
		return true, nil
	}
	if m.Raw == nil {
		return m.Event != nil, nil // a gap is not a message from the peer, so --select does not apply
	}
	ok, err := p.sel.Truth(ctx, m.Raw)
	return ok, named("--select", err)
}

// emit applies --jq and the template to a line, writes the results, and reports whether there is one.
func (p *Pipeline) emit(ctx context.Context, line []byte, contentType string) (written bool, err error) {
	if p.filter == nil {
		return true, p.write(ctx, line, contentType)
	}
	if out, ok := p.filter.Path(line); !ok {
		written, err = p.filtered(ctx, line, contentType)
	} else {
		err = p.write(ctx, out, contentType)
		written = err == nil
	}
	if err := p.fault(); err != nil {
		return written, err
	}
	return written, named("--jq", err)
}

func (p *Pipeline) filtered(ctx context.Context, line []byte, contentType string) (written bool, err error) {
	yield := func(out json.RawMessage) (bool, error) {
		err := p.write(ctx, out, contentType)
		written = written || err == nil
		return err == nil, err
	}
	if p.backlog != nil {
		if ok, err := p.backlog.block.Run(p.backlog.at, line, yield); ok {
			return written, err
		}
	}
	err = p.filter.Run(ctx, line, yield)
	return written, err
}

// A backlog contains the next messages to print, for which several cores run the program of --jq.
type backlog struct {
	block *ahead.Block
	msgs  []wire.Message
	at    int // the index of the current message
}

// The minimum number or size, in bytes, of messages for which to use other cores. Waking a core takes about as long as
// running a program on a few messages.
const (
	backlogMessages = 16
	backlogBytes    = 32 << 10
)

// UsesWorkers reports whether StartWorkers is worthwhile for msgs: there are enough, and the program of --jq is slow
// and can run before its outputs are needed.
func (p *Pipeline) UsesWorkers(msgs []wire.Message) bool {
	return p.filter != nil && p.sel == nil && !p.o.Events && p.filter.RunsAhead() && isBacklog(msgs)
}

// StartWorkers starts to run the program of --jq for msgs on other cores. The caller must pass the messages to Print in
// order, but can skip some, and must call StopWorkers before they change. event sets ev to the event that users see for
// a message. Any goroutine may call it. The output, and where it ends, are the same as without workers.
func (p *Pipeline) StartWorkers(ctx context.Context, msgs []wire.Message, event func(m *wire.Message, ev *wire.Event) error) {
	block := ahead.Start(ctx, p.filter, len(msgs), func(i int) []byte {
		var ev wire.Event
		if event(&msgs[i], &ev) != nil {
			return nil
		}
		return p.line(&msgs[i], &ev)
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backlog = &backlog{block: block, msgs: msgs}
}

// isBacklog reports whether msgs are enough work for several cores.
func isBacklog(msgs []wire.Message) bool {
	size := 0
	for i := range msgs {
		size += len(msgs[i].Raw)
	}
	return runtime.GOMAXPROCS(0) > 1 && len(msgs) > 1 && (len(msgs) >= backlogMessages || size >= backlogBytes)
}

// StopWorkers stops the workers of StartWorkers, and waits for them.
func (p *Pipeline) StopWorkers() {
	p.mu.Lock()
	b := p.backlog
	p.backlog = nil
	p.mu.Unlock()
	b.block.End()
}

// turn records that m is being printed. b need not contain m.
func (b *backlog) turn(m *wire.Message) {
	for i := b.at; i < len(b.msgs); i++ {
		if &b.msgs[i] == m {
			b.at = i
			return
		}
	}
}

// Light reports whether Print runs none of the user's programs.
func (p *Pipeline) Light() bool {
	return p.sel == nil && p.until == nil && p.filter == nil && p.render == nil && len(p.checker.expectations) == 0
}
