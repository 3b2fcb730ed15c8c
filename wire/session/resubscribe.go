package session

import (
	"context"
	"io"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A resubscription is a subscription or watch that continues when its link is replaced.
type resubscription struct {
	d         *Direct
	op        dialect.Op
	cancelled atomic.Bool
	finished  atomic.Bool // Finish was called, and later messages are dropped

	// Only Next uses the following fields.
	read    linkStream    // the current stream
	held    *wire.Message // the message that the call of Next after the gap returns, or nil
	seen    bool          // whether the stream has returned a message, which shows that the peer knew the subscription
	gap     bool          // a gap must be reported
	gapSent bool          // whether a watch has returned a gap and no message since then, so that a second gap would add nothing

	// The following fields are guarded by d.mu.
	next  linkStream // the stream on the latest link
	tried *link      // the latest link on which s was opened again or failed to open
	err   error      // why opening s again failed
}

// openResubscribed opens op now, and again on each new link.
func (d *Direct) openResubscribed(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	s := &resubscription{d: d, op: op}
	var old *link
	for {
		l, err := d.live(ctx, old)
		if err != nil {
			return nil, err
		}
		st, err := d.takePreopened(l, op), error(nil)
		if st == nil {
			st, err = l.p.Open(ctx, op)
		}
		if err != nil {
			if isLost(err) {
				old = l
				continue
			}
			return nil, err
		}
		s.read = linkStream{st, l}
		s.next, s.tried = s.read, l
		if d.register(s) {
			return s, nil
		}
		old = l // the link was replaced in the meantime
	}
}

// preopen opens watches on a new link before anything else uses it. These are the watches that continue after a
// reconnect or, on the first link, the watch of Options.First. A watch of all messages does not show the handshake.
func (d *Direct) preopen(ctx context.Context, l *link, c dialect.Caller) {
	hasHandshake := l.codec.Abilities().Handshake != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	if op := d.o.First; op != nil && d.codec == nil && d.isPassiveWatch(*op) && (op.Method != "" || !hasHandshake) {
		l.preopened, _ = c.Open(ctx, *op)
	}
	l.watches = map[*resubscription]dialect.Stream{}
	for _, s := range d.streams {
		if s.op.Kind != dialect.Watch || s.op.Method == "" && hasHandshake || !dialect.Severed(s.next) {
			continue
		}
		if st, err := c.Open(ctx, s.op); err == nil {
			l.watches[s] = st
		}
	}
}

// isPassiveWatch reports whether op sends nothing and only shows messages.
func (d *Direct) isPassiveWatch(op dialect.Op) bool {
	follows := d.endpoint.Spec().Streams.Follows
	return op.Kind == dialect.Watch || follows != nil && follows(op)
}

// takePreopened returns the stream for op if preopen has opened it, or nil.
func (d *Direct) takePreopened(l *link, op dialect.Op) dialect.Stream {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.preopened == nil || op.Kind != d.o.First.Kind || op.Method != d.o.First.Method {
		return nil
	}
	st := l.preopened
	l.preopened = nil
	return st
}

// reopen opens s again on l, unless s ended before its connection was lost.
func (s *resubscription) reopen(l *link) {
	d := s.d
	d.mu.Lock()
	s.tried = l
	old := s.next
	d.mu.Unlock()
	if s.cancelled.Load() || s.finished.Load() || !dialect.Severed(old) {
		return
	}
	st, err := l.watches[s], error(nil)
	if st == nil {
		st, err = l.p.Open(d.redialer.ctx, s.op)
	}
	d.mu.Lock()
	switch {
	case err == nil:
		s.next = linkStream{st, l}
	case !isLost(err) && d.redialer.ctx.Err() == nil:
		s.err = err
	}
	d.mu.Unlock()
	if err == nil && (s.cancelled.Load() || s.finished.Load()) { // Cancel or Finish was called in the meantime
		ctx, cancel := context.WithTimeout(d.redialer.ctx, dialect.CancelTimeout)
		defer cancel()
		_ = st.Cancel(ctx)
	}
}

// Next returns the next message of the stream. Between the messages of two links, it returns a gap.
func (s *resubscription) Next(ctx context.Context) (wire.Message, error) {
	if m := s.held; m != nil {
		s.held = nil
		return *m, nil
	}
	for !s.cancelled.Load() {
		m, err := s.read.Next(ctx)
		switch {
		case err == nil:
			return s.message(m), nil
		case !dialect.Severed(s.read):
			if ctx.Err() == nil {
				s.d.unregister(s)
			}
			return wire.Message{}, err
		}
		if err := s.awaitReopened(ctx, err); err != nil {
			return wire.Message{}, err
		}
		switch {
		case s.op.Kind != dialect.Watch:
			s.gap = s.gap || s.seen
		case !s.gapSent: // no answer will confirm that it is open again
			s.gapSent = true
			return LossGap(), nil
		}
	}
	return wire.Message{}, io.EOF
}

func (s *resubscription) message(m wire.Message) wire.Message {
	gap := s.gap && m.Err == nil // the peer's error is more informative than a gap
	s.seen, s.gap, s.gapSent = true, false, false
	if !gap {
		return m
	}
	s.held = &m
	return LossGap()
}

// LossGap returns the gap event for a connection that was lost.
func LossGap() wire.Message {
	return wire.Message{Kind: wire.Item, Event: &wire.Event{
		Kind: wire.Gap, Missed: wire.MissedUnknown, Message: "the connection was lost and restored",
	}}
}

// awaitReopened waits until s has been opened on another link. why is how it ended on the previous link.
func (s *resubscription) awaitReopened(ctx context.Context, why error) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		switch {
		case s.cancelled.Load():
			return io.EOF
		case s.next != s.read:
			s.read = s.next
			return nil
		case s.finished.Load():
			return io.EOF
		case s.err != nil:
			return s.err
		case d.giveUpErr != nil:
			return d.giveUpErr
		case d.over:
			return why
		}
		if err := d.change.Await(ctx, &d.mu); err != nil {
			return err
		}
	}
}

// Waiting reports whether Next would return at once.
func (s *resubscription) Waiting() bool { return s.held != nil || dialect.Waiting(s.read) }

// Finish makes the watch accept no more messages on any link (see dialect.Finisher).
func (s *resubscription) Finish(ctx context.Context) error {
	s.finished.Store(true)
	return dialect.Finish(ctx, s.detach())
}

// Cancel ends the stream. If there is a connection, it also cancels the stream on the peer.
func (s *resubscription) Cancel(ctx context.Context) error {
	s.cancelled.Store(true)
	return s.detach().Cancel(ctx)
}

// detach stops opening s again on new links, and returns its latest stream.
func (s *resubscription) detach() dialect.Stream {
	s.d.unregister(s)
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.d.change.Pass()
	return s.next.Stream
}
