package peer

import (
	"context"
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Open sends op and returns the stream of its answers. ctx bounds the wait for room in the queue of
// messages to send and, on a wire.Exchanger, the whole exchange. If op has no answer, Open returns
// when the message was sent, and the stream is at its end.
func (p *Peer) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if op.Kind == dialect.Watch {
		return p.watch(op)
	}
	if p.isBatch(op) {
		return p.openBatch(ctx, op)
	}
	if op.Kind == dialect.Eval && p.can.Prepare != nil {
		if err := p.can.Prepare(ctx, p, op); err != nil {
			return nil, err
		}
	}
	s := newStream(p, op)
	p.mu.Lock()
	msg, err := p.encodeLocked(ctx, op, s)
	if err != nil {
		p.mu.Unlock()
		return nil, err
	}
	if msg.Raw == nil && msg.Stream != nil {
		defer p.mu.Unlock()
		return p.followLocked(s, msg.Stream)
	}
	if ends := p.calls.byID[string(msg.Target)]; len(msg.Target) > 0 && ends != nil {
		p.forgetLocked(ends, io.EOF) // no more of its messages will come
	}
	o := outgoing{msg: msg.Raw, ctx: ctx, about: p.aboutOf(ctx, &op)}
	unshaped := isUnshaped(msg)
	if len(msg.ID) == 0 && !unshaped && !p.repliesLocked(op) {
		s.ended, s.err = true, io.EOF
		return s, p.sendAndUnlock(ctx, o)
	}
	if p.state == eof && !p.asksInExchange() {
		p.mu.Unlock()
		return nil, p.noMoreLocked(s, io.EOF)
	}
	if p.exchanger != nil {
		o.ctx, s.stop = context.WithCancel(ctx)
	}
	if len(msg.ID) == 0 {
		p.calls.addUnshaped(s)
		s.optional = !unshaped
		p.change.pass()
	} else {
		p.registerLocked(s, msg)
		if op.Kind == dialect.Raw && op.Answer == nil {
			p.calls.unshaped = append(p.calls.unshaped, s)
		}
	}
	o.call = s
	p.sendLocked(o)
	p.mu.Unlock()
	return s, nil
}

// Preview returns the message that Open would send for op, without sending it. Its id is used up.
func (p *Peer) Preview(op dialect.Op) (wire.Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.codec.Encode(op)
}

// Notify sends op and returns when the message has been written. If an answer comes nevertheless,
// it is dropped.
func (p *Peer) Notify(ctx context.Context, op dialect.Op) error {
	s := newStream(p, op)
	p.mu.Lock()
	msg, err := p.encodeLocked(ctx, op, s)
	if err != nil {
		p.mu.Unlock()
		return err
	}
	if len(msg.ID) > 0 {
		s.id = string(msg.ID)
		p.calls.abandon(s)
	}
	return p.sendAndUnlock(ctx, outgoing{msg: msg.Raw, ctx: ctx, about: p.aboutOf(ctx, &op)})
}

// encodeLocked waits for room in the outbox and encodes op with an id that is not in use. The mutex
// is released while it waits.
func (p *Peer) encodeLocked(ctx context.Context, op dialect.Op, s *stream) (wire.Message, error) {
	if err := p.waitRoomLocked(ctx); err != nil {
		return wire.Message{}, err
	}
	if p.state >= closing {
		return wire.Message{}, p.noMoreLocked(s, nil)
	}
	msg, err := p.codec.Encode(op)
	if s.op.Method == "" {
		s.op.Method = msg.Method
	}
	for err == nil && len(msg.ID) > 0 && p.calls.taken(msg.ID) {
		if op.Kind != dialect.Raw {
			msg, err = p.codec.Encode(op)
			continue
		}
		var fresh wire.Message
		if fresh, err = p.codec.Encode(dialect.Op{Kind: dialect.Call, Method: dialect.FreshID}); err == nil {
			if s.own == nil {
				s.own = msg.ID.Clone()
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

// restored returns the answer m with the id that the user gave.
func (p *Peer) restored(m *wire.Message, own wire.ID) *wire.Message {
	if own == nil {
		return m
	}
	c := *m
	c.Raw = scan.Splice(m.Raw, p.can.AnswerID, own)
	c.ID = own
	return &c
}

// noMoreLocked returns the reason why s will not be answered: why the connection has ended, if that
// is known, else why.
func (p *Peer) noMoreLocked(s *stream, why error) error {
	method := ""
	if s != nil {
		method = s.op.Method
	}
	switch {
	case p.closeErr != nil:
		why = p.closeErr
	case why != nil:
	case p.ours:
		why = errOurs
	}
	return closedFault(why, method, "before "+quoted(method)+" was sent")
}
