// Package poll follows long work of a peer, such as a job or a task. It reads the peer's reports, and requests the
// status after a pause without reports.
package poll

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// The pause before a request doubles from firstPause to longestPause.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// A Stream is the stream of an operation on long work. It yields the messages of Put until End. Its functions run in
// Next and Cancel. They call Put and End, and may change the fields.
type Stream struct {
	Reports    dialect.Stream                                  // reports without a request; may be nil
	OnReport   func(ctx context.Context, m wire.Message) error // processes a report
	Ask        func(ctx context.Context) error                 // requests the status; nil if there are only Reports
	Now        bool                                            // the first request has no pause
	Every      time.Duration                                   // the pause before each request, or 0 for growing pauses
	CancelWork func(ctx context.Context) error                 // ends unfinished work in Cancel; nil lets the work continue

	pause time.Duration // the last pause
	ready []wire.Message
	over  bool // no message follows those in ready
}

// Of returns a stream of the given messages.
func Of(msgs ...wire.Message) *Stream { return &Stream{ready: msgs, over: true} }

// Lines returns a stream of JSON values as data.
func Lines(values ...json.RawMessage) *Stream {
	s := &Stream{over: true}
	for i, val := range values {
		final := i == len(values)-1
		s.Put(wire.Message{
			Kind: wire.Item, Final: final, Raw: val, Body: val,
			Event: &wire.Event{Kind: wire.Data, Final: final, Data: val},
		})
	}
	return s
}

// Answer returns a stream of the values, or err.
func Answer(err error, values ...json.RawMessage) (dialect.Stream, error) {
	if err != nil {
		return nil, err
	}
	return Lines(values...), nil
}

// Put adds a message for Next.
func (s *Stream) Put(m wire.Message) { s.ready = append(s.ready, m) }

// End marks the end of the work. Next returns io.EOF after the last message of Put, which is final.
func (s *Stream) End() {
	if n := len(s.ready); n > 0 {
		s.ready[n-1].Final = true
	}
	s.over, s.CancelWork = true, nil
}

// Next returns the next message. It waits for a report or requests one.
func (s *Stream) Next(ctx context.Context) (wire.Message, error) {
	for len(s.ready) == 0 {
		if s.over {
			return wire.Message{}, io.EOF
		}
		if err := s.more(ctx); err != nil {
			return wire.Message{}, err
		}
	}
	m := s.ready[0]
	s.ready = s.ready[1:]
	return m, nil
}

// more processes one report, or requests one.
func (s *Stream) more(ctx context.Context) error {
	if s.Ask == nil {
		m, err := s.Reports.Next(ctx)
		if err != nil {
			return err
		}
		return s.OnReport(ctx, m.Clone())
	}
	m, err := s.listen(ctx)
	switch {
	case err == nil:
		return s.OnReport(ctx, m.Clone())
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, context.DeadlineExceeded): // no further report will arrive
		s.StopReports(ctx)
		return nil
	}
	return s.Ask(ctx)
}

// listen waits for a report until the next request is due.
func (s *Stream) listen(ctx context.Context) (wire.Message, error) {
	switch {
	case s.Now:
		s.Now = false
		return wire.Message{}, context.DeadlineExceeded
	case s.Every > 0:
		s.pause = s.Every
	default:
		s.pause = min(max(2*s.pause, firstPause), longestPause)
	}
	until, cancel := context.WithTimeout(ctx, s.pause)
	defer cancel()
	if s.Reports != nil {
		return s.Reports.Next(until)
	}
	<-until.Done()
	return wire.Message{}, until.Err()
}

// StopReports stops waiting for reports.
func (s *Stream) StopReports(ctx context.Context) {
	if s.Reports != nil {
		dialect.CancelAnyway(ctx, s.Reports)
		s.Reports = nil
	}
}

// Cancel stops following the work, and ends unfinished work.
func (s *Stream) Cancel(ctx context.Context) error {
	cancelWork := s.CancelWork
	s.End()
	s.StopReports(ctx)
	if cancelWork == nil {
		return nil
	}
	return cancelWork(ctx)
}

// Ask calls a method of the protocol and returns the response.
func Ask(ctx context.Context, c dialect.Caller, method string, params json.RawMessage) (wire.Message, error) {
	st, err := c.Open(ctx, dialect.Op{Kind: dialect.Internal, Method: method, Params: params})
	if err != nil {
		return wire.Message{}, err
	}
	m, err := st.Next(ctx)
	if err != nil {
		dialect.CancelAnyway(ctx, st)
		return wire.Message{}, err
	}
	return m.Clone(), nil
}
