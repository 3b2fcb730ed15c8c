package peer

import (
	"context"
	"errors"
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A rawBatch is one message of the user's own that holds several, each of which
// is answered by itself. Its messages are the answers, in the order of the
// requests, whatever the order in which they came.
type rawBatch struct {
	calls []*stream // that Next has not come past
	sent  []*stream // all
}

// isBatch reports whether op sends several messages in one.
func isBatch(op dialect.Op) bool {
	start := scan.Skip(op.Params, 0)
	return op.Kind == dialect.Raw && start < len(op.Params) && op.Params[start] == '['
}

// openBatch sends the array in op, which is the same to the byte where each of
// its ids is free.
func (p *Peer) openBatch(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	p.mu.Lock()
	whole, err := p.encodeLocked(ctx, op, newStream(p, op))
	if err != nil {
		p.mu.Unlock()
		return nil, err
	}
	b := &rawBatch{}
	var msg scan.Array
	changed, empty := false, true
	for val := range scan.Elements(op.Params) {
		part := dialect.Op{Kind: dialect.Raw, Params: val, Answer: op.Answer}
		s := newStream(p, part)
		m, err := p.encodeLocked(ctx, part, s)
		if err == nil && len(m.ID) > 0 && p.state == eof {
			err = p.noMoreLocked(s, io.EOF)
		}
		if err != nil {
			b.end(p, err)
			p.mu.Unlock()
			return nil, err
		}
		if len(m.ID) > 0 {
			s.batch = b
			p.registerLocked(s, m)
			b.sent = append(b.sent, s)
		}
		p.blameLocked(m)
		changed = changed || s.own != nil
		empty = false
		msg.Add(m.Raw)
	}
	if empty { // an empty array is no batch
		p.calls.idless++
	}
	if changed {
		whole.Raw = msg.End()
	}
	b.calls = b.sent
	err = p.sendAndUnlock(ctx, outgoing{msg: whole.Raw, ctx: ctx, from: b})
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
		b.end(p, err)
	case p.exchanger != nil: // the exchange is over: nothing more will come
		b.end(p, &wire.Fault{Kind: wire.Protocol, Message: "the HTTP reply held no answer"})
	}
	return b, err
}

// end ends what is not answered.
func (b *rawBatch) end(p *Peer, err error) {
	for _, s := range b.sent {
		p.forgetLocked(s, err)
	}
}

// unanswered reports whether nothing of b is answered.
func (b *rawBatch) unanswered() bool {
	for _, s := range b.sent {
		if !s.waiting {
			return false
		}
	}
	return len(b.sent) > 0
}

// Next returns the next answer.
func (b *rawBatch) Next(ctx context.Context) (wire.Message, error) {
	for len(b.calls) > 0 {
		m, err := b.calls[0].Next(ctx)
		if err == nil {
			m.Final = len(b.calls) == 1
			return m, nil
		}
		if !errors.Is(err, io.EOF) {
			return m, err
		}
		b.calls = b.calls[1:]
	}
	return wire.Message{}, io.EOF
}

// Waiting reports whether Next would return at once.
func (b *rawBatch) Waiting() bool { return len(b.calls) == 0 || b.calls[0].Waiting() }

// Cancel forgets what is not answered yet.
func (b *rawBatch) Cancel(ctx context.Context) error {
	var err error
	for _, s := range b.calls {
		err = errors.Join(err, s.Cancel(ctx))
	}
	return err
}
