package peer

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/ending"
	"rpcx/wire/scan"
)

// A rawBatch is an array of several messages from the user, each with a response of its own. As a stream, it yields the
// responses in the order of the requests.
type rawBatch struct {
	calls []*stream // the calls whose responses Next has not returned yet
	sent  []*stream // all calls of the batch
}

// isBatch reports whether op sends an array of several messages.
func (p *Peer) isBatch(op dialect.Op) bool {
	return op.Kind == dialect.Raw && !p.can.Arrays && scan.Type(op.Params[scan.Skip(op.Params, 0):]) == 'a'
}

// openBatch sends the array in op. If none of its ids is in use, the array is sent unchanged, byte for byte.
func (p *Peer) openBatch(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	p.mu.Lock()
	whole, err := p.encodeLocked(ctx, newStream(p, op))
	if err != nil {
		p.mu.Unlock()
		return nil, err
	}
	b := &rawBatch{}
	var msg scan.Array
	changed := false
	for val := range scan.Elements(op.Params) {
		s := newStream(p, dialect.Op{Kind: dialect.Raw, Params: val, Answer: op.Answer})
		m, fail := p.encodeLocked(ctx, s)
		if err = fail; err == nil && (len(m.ID) > 0 || isUnshaped(&m)) {
			err = b.addLocked(s, m)
		}
		if err != nil {
			break
		}
		changed = changed || s.restore != nil
		msg.Add(m.Raw)
	}
	if scan.Count(op.Params) == 0 { // an empty array is not a batch
		err = b.addLocked(newStream(p, op), wire.Message{})
	}
	if err != nil {
		b.end(p, err)
		p.mu.Unlock()
		return nil, err
	}
	if changed {
		whole.Raw = msg.End()
	}
	slices.SortStableFunc(b.sent, func(x, y *stream) int { // messages without an id come last, because they may have no response
		return strings.Count(x.id, looseKey) - strings.Count(y.id, looseKey)
	})
	b.calls = b.sent
	err = p.sendAndUnlock(ctx, outgoing{msg: whole.Raw, ctx: ctx, from: b})
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
		b.end(p, err)
	case p.exchanger != nil: // the exchange is over, and nothing more will arrive
		b.end(p, &wire.Fault{Kind: wire.Protocol, Message: "the HTTP response does not answer the request"})
	}
	return b, err
}

// addLocked registers a call of the batch. It fails if no response can arrive any longer. The caller holds the lock.
func (b *rawBatch) addLocked(s *stream, m wire.Message) error {
	if s.p.end.State == ending.EOF {
		return s.p.end.Fault(io.EOF, s.op.Method)
	}
	s.p.registerLocked(s, m)
	s.batch, b.sent = b, append(b.sent, s)
	return nil
}

// end fails the unanswered requests of the batch.
func (b *rawBatch) end(p *Peer, err error) {
	for _, s := range b.sent {
		p.forgetLocked(s, err)
	}
}

// unanswered reports whether no call of b has a response yet.
func (b *rawBatch) unanswered() bool {
	return len(b.sent) > 0 && !slices.ContainsFunc(b.sent, func(s *stream) bool { return !s.waiting })
}

// owner returns the owner of a message that is the response to the whole batch.
func (b *rawBatch) owner() owner {
	return owner{as: answer, call: b.sent[0], whole: len(b.sent) > 1}
}

// Next returns the next response.
func (b *rawBatch) Next(ctx context.Context) (wire.Message, error) {
	for len(b.calls) > 0 {
		m, err := b.calls[0].Next(ctx)
		if err == nil {
			m.Final = len(b.calls) == 1
			return m, nil
		}
		if err != io.EOF {
			return m, err
		}
		b.calls = b.calls[1:]
	}
	return wire.Message{}, io.EOF
}

// Waiting reports whether Next would return at once.
func (b *rawBatch) Waiting() bool { return len(b.calls) == 0 || b.calls[0].Waiting() }

// Cancel forgets the requests that have no response.
func (b *rawBatch) Cancel(ctx context.Context) error {
	var err error
	for _, s := range b.calls {
		err = errors.Join(err, s.Cancel(ctx))
	}
	return err
}
