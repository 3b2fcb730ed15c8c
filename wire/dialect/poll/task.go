package poll

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"rpcx/wire"
)

// Bounds of the pause between requests that a peer can demand.
const (
	minPause = 10 * time.Millisecond
	maxPause = 30 * time.Second
)

// A Task follows work with a status object. It yields each change as progress, and ends with the result or the error. Its functions
// contain the differences between protocols.
type Task struct {
	Stream
	Status func(ctx context.Context) (json.RawMessage, error) // requests the status
	// Read converts a status. If over is true, the message is the result or the error; otherwise its Event, if any, is
	// progress.
	Read func(ctx context.Context, status json.RawMessage) (m wire.Message, over bool, err error)
	Over func() // runs at the end of the task; may be nil

	shown string // the last progress
}

// Track makes the stream request the status when no reports arrive. An error of the peer ends the task.
func (t *Task) Track() {
	t.Ask = func(ctx context.Context) error {
		status, err := t.Status(ctx)
		if err == nil {
			err = t.Update(ctx, status)
		}
		if rpc, ok := errors.AsType[*wire.Error](err); ok && wire.AsFault(err) == nil {
			t.Finish(ctx, wire.Message{Err: rpc, Raw: rpc.JSON()})
			return nil
		}
		return err
	}
}

// Update processes a status of the task.
func (t *Task) Update(ctx context.Context, status json.RawMessage) error {
	m, over, err := t.Read(ctx, status)
	switch {
	case err != nil:
		return err
	case over:
		t.Finish(ctx, m)
		return nil
	}
	now := ""
	if m.Event != nil {
		now = m.Event.Message + string(m.Event.Extra)
	}
	if now != "" && now != t.shown {
		m.Kind = wire.Item
		t.Put(m)
	}
	t.shown = now
	return nil
}

// Finish ends the stream with the result or the error.
func (t *Task) Finish(ctx context.Context, m wire.Message) {
	t.StopReports(ctx)
	if t.Over != nil {
		t.Over()
	}
	m.Kind, m.ID, m.Event = wire.Item, nil, &wire.Event{Kind: wire.Data, Final: true, Data: m.Body}
	if m.Err != nil {
		m.Event = &wire.Event{Kind: wire.Failure, Final: true, Err: m.Err}
	}
	t.Put(m)
	t.End()
}

// Pause sets the pause between requests in milliseconds, within bounds. It ignores values that are not positive.
func (t *Task) Pause(milliseconds json.RawMessage) {
	if ms, err := strconv.ParseFloat(string(milliseconds), 64); err == nil && ms > 0 {
		ms = min(ms, float64(maxPause/time.Millisecond))
		t.Every = max(time.Duration(ms*float64(time.Millisecond)), minPause)
	}
}
