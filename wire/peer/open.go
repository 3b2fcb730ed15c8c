package peer

import (
	"cmp"
	"context"
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/ending"
	"rpcx/wire/scan"
)

// Open sends op and returns the stream of its responses. ctx bounds the wait for room in the outbox and, with a
// wire.Exchanger, the whole exchange. If op has no response, Open returns after it has sent the message, and the stream
// has already ended.
func (p *Peer) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	st, err := p.open(ctx, op)
	if err == nil && op.Kind == dialect.Call && p.can.Continue != nil {
		return p.can.Continue(ctx, p, op, st), nil
	}
	return st, err
}

// open opens the stream of one message.
func (p *Peer) open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case op.Kind == dialect.Watch:
		return p.watch(op)
	case p.isBatch(op):
		return p.openBatch(ctx, op)
	case op.Kind == dialect.Eval && p.can.Prepare != nil:
		if err := p.can.Prepare(ctx, p, op); err != nil {
			return nil, err
		}
	case op.Kind == dialect.Call && p.can.PrepareCall != nil:
		if err := p.can.PrepareCall(ctx, p, op); err != nil {
			return nil, err
		}
	}
	s := newStream(p, op)
	p.mu.Lock()
	o, err := p.beginLocked(ctx, s)
	switch {
	case err != nil:
		p.mu.Unlock()
		return nil, err
	case o.msg != nil && o.call == nil:
		return s, p.sendAndUnlock(ctx, o)
	case o.msg != nil:
		p.sendLocked(o)
	}
	p.mu.Unlock()
	return s, nil
}

// beginLocked adds s to the tables and returns its message, which may be empty. If the message contains no call, s ends
// when the message has been sent. The caller holds the lock.
func (p *Peer) beginLocked(ctx context.Context, s *stream) (outgoing, error) {
	msg, err := p.encodeLocked(ctx, s)
	if err != nil {
		return outgoing{}, err
	}
	if msg.Raw == nil && msg.Stream != nil {
		return outgoing{}, p.followLocked(s, msg.Stream)
	}
	if ends := p.calls.byID[string(msg.Target.Key())]; len(msg.Target) > 0 && ends != nil {
		p.forgetLocked(ends, io.EOF) // no message can arrive for this stream
	}
	o := outgoing{msg: msg.Raw, ctx: ctx, about: p.aboutOf(ctx, &s.op)}
	expects, optional := p.expectsLocked(&s.op, &msg)
	switch {
	case !expects:
		s.box.End(io.EOF)
		return o, nil
	case p.end.State == ending.EOF && !p.asksInExchange():
		return o, p.end.Fault(io.EOF, s.op.Method)
	case p.exchanger != nil:
		o.ctx, s.exchange.stop = context.WithCancel(ctx)
	}
	o.call = s
	p.registerLocked(s, msg)
	if s.exchange != nil {
		s.exchange.optional = optional
	}
	if len(msg.ID) > 0 && s.op.Kind == dialect.Raw && s.op.Answer == nil {
		p.calls.unshaped = append(p.calls.unshaped, s)
	}
	return o, nil
}

// Preview returns the message that Open would send for op. It sends nothing, but the id of the message is then used.
func (p *Peer) Preview(op dialect.Op) (wire.Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.codec.Encode(op)
}

// Notify sends op and returns when the message has been written. If the peer responds, it drops the response.
func (p *Peer) Notify(ctx context.Context, op dialect.Op) error {
	s := newStream(p, op)
	s.repeats = op.Kind == dialect.Raw
	p.mu.Lock()
	msg, err := p.encodeLocked(ctx, s)
	if err != nil {
		p.mu.Unlock()
		return err
	}
	if len(msg.ID) > 0 {
		s.setID(msg.ID)
		p.calls.abandon(s)
	}
	return p.sendAndUnlock(ctx, outgoing{msg: msg.Raw, ctx: ctx, about: p.aboutOf(ctx, &op)})
}

// encodeLocked waits for room in the outbox and encodes the operation of s with an unused id. The caller holds the
// lock, which the wait releases.
func (p *Peer) encodeLocked(ctx context.Context, s *stream) (wire.Message, error) {
	if err := p.waitRoomLocked(ctx); err != nil {
		return wire.Message{}, err
	}
	if !p.end.Live() {
		return wire.Message{}, p.end.Fault(nil, s.op.Method)
	}
	msg, err := p.codec.Encode(s.op)
	s.op.Method = cmp.Or(s.op.Method, msg.Method)
	for err == nil && len(msg.ID) > 0 && p.calls.taken(msg.ID) && !p.calls.repeated(s, msg.ID) {
		if s.op.Kind != dialect.Raw {
			msg, err = p.codec.Encode(s.op)
			continue
		}
		var fresh wire.Message
		if fresh, err = p.codec.Encode(dialect.Op{Kind: dialect.Call, Method: dialect.FreshID}); err == nil {
			if s.restore == nil {
				own := msg.ID.Clone()
				s.restore = func(m wire.Message) *wire.Message {
					m.Raw, m.ID = scan.Splice(m.Raw, p.can.AnswerID, own), own
					return &m
				}
			}
			msg.Raw = scan.Splice(msg.Raw, p.can.RequestID, fresh.ID)
			msg.ID = fresh.ID
		}
	}
	if err == nil {
		msg = p.ownExchangeIDLocked(msg)
	}
	return msg, err
}

// isUnshaped reports whether m is a message of the user that is not a message of the dialect and has no id. Its
// response cannot be recognized by its form.
func isUnshaped(m *wire.Message) bool {
	return m.Kind == wire.Invalid && m.Err != nil && len(m.ID) == 0
}

// expectsLocked reports whether msg, the message of op, can have a response. A Raw message over HTTP always gets a
// reply, which is optional if the message requests none. The caller holds the lock.
func (p *Peer) expectsLocked(op *dialect.Op, msg *wire.Message) (expects, optional bool) {
	if len(msg.ID) > 0 || isUnshaped(msg) {
		return true, false
	}
	optional = op.Kind == dialect.Raw && op.Answer == nil && p.exchanger != nil
	return optional, optional
}
