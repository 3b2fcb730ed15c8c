package bridge

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// An answer collects the events of one request to the peer.
type answer struct {
	responder *responder
	req       dialect.Request
	array     bool // the result is an array of the stream's items
	stream    bool // the first response only contains the stream's name
	over      bool
	begun     bool // data has arrived
	timer     *time.Timer

	items  scan.Array
	size   int
	last   json.RawMessage
	failed *wire.Error
}

// read forwards the events of st and returns its result.
func (a *answer) read(ctx context.Context, st dialect.Stream, event func(*wire.Message, *wire.Event) error) (json.RawMessage, error) {
	whole, stop := context.WithCancel(ctx)
	defer stop()
	defer a.unlimit()
	for {
		m, err := st.Next(whole)
		switch {
		case err == io.EOF:
			a.over = true
			return a.result()
		case err != nil && whole.Err() != nil && ctx.Err() == nil: // the items of a stream that did not end in time cannot become one result
			b := a.responder.bridge
			return nil, wire.Errorf(wire.CodeServer, "%s cannot be called here: its stream has not ended after %s, and %s has no streams", a.req.Method, b.whole, b.here.Name)
		case err != nil:
			return nil, err
		}
		if err := a.message(&m, event); err != nil {
			return nil, err
		}
		if a.over {
			return a.result()
		}
		a.limit(stop)
	}
}

// message processes the event of m. It ignores a message that only contains the name of a stream.
func (a *answer) message(m *wire.Message, event func(*wire.Message, *wire.Event) error) error {
	a.over = m.Final
	names := m.Kind == wire.Response && m.Err == nil && !m.Final
	if names && (a.stream || m.Stream != nil) {
		return nil
	}
	var ev wire.Event
	if err := event(m, &ev); err != nil {
		a.over = false
		return err
	}
	if err := a.event(ev); err != nil {
		a.over = false
		return err
	}
	a.over = a.over || ev.Final
	return nil
}

// limit arranges that stop is called if the result is collected from several items and they do not end in time.
func (a *answer) limit(stop func()) {
	if a.timer == nil && a.begun && (a.array || a.req.Whole) {
		a.timer = time.AfterFunc(a.responder.bridge.whole, stop)
	}
}

func (a *answer) unlimit() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// event forwards or stores one event of the response.
func (a *answer) event(ev wire.Event) error {
	switch ev.Kind {
	case wire.Done, wire.Opened, wire.Gap:
		return nil
	case wire.Failure:
		e := wire.NewError(wire.CodeServer, ev.Message)
		if ev.Err != nil {
			e = a.responder.bridge.plainError(ev.Err)
		}
		err := a.forwardError()
		a.failed = e
		return err
	case wire.Data:
		if err := a.forwardError(); err != nil {
			return err
		}
		a.begun = true
		if data := ev.Data; data == nil {
			ev.Data = json.RawMessage("null")
		}
		if a.array {
			if a.size += len(ev.Data); a.size > wire.DefaultMaxMessage {
				return wire.Errorf(wire.CodeServer, "the items are longer than %d bytes in total", wire.DefaultMaxMessage)
			}
			a.items.Add(ev.Data)
			return nil
		}
		a.last = append(json.RawMessage(nil), ev.Data...)
		if !a.req.Stream {
			return nil
		}
	}
	if a.req.Emit == nil {
		return nil
	}
	ev.Stream, ev.Method, ev.Final = nil, "", false
	return a.req.Emit(ev)
}

// forwardError forwards an error event that did not end the stream. It is called when another message follows.
func (a *answer) forwardError() error {
	e := a.failed
	a.failed = nil
	if e == nil || !a.req.Stream || a.req.Emit == nil {
		return nil
	}
	e = a.responder.representable(e).Clone()
	e.Raw = scan.Splice(e.JSON(), "recoverable", []byte("true"))
	return a.req.Emit(wire.Event{Kind: wire.Failure, Err: e, Extra: scan.Pair("recoverable", []byte("true"))})
}

func (a *answer) result() (json.RawMessage, error) {
	switch {
	case a.failed != nil:
		return nil, a.failed
	case a.array:
		return a.items.End(), nil
	}
	return a.last, nil
}
