package request

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync/atomic"

	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// Kept contains the parts of a response that later steps need.
type Kept struct {
	Last json.RawMessage // the last data, with ReadOptions.KeepLast
	Raw  json.RawMessage // the message of the data, with ReadOptions.KeepRaw
	job  string          // the job that the last message started, or ""
}

// keep stores the parts of m and its event that later steps need.
func (k *Kept) keep(o *ReadOptions, m *wire.Message, ev *wire.Event) {
	k.job = startedJob(m, ev)
	if o.KeepLast && ev.Kind == wire.Data {
		k.Last = bytes.Clone(ev.Data)
	}
	if o.KeepRaw && ev.Kind == wire.Data {
		k.Raw = bytes.Clone(m.Raw)
	}
	if ev.Kind != wire.Failure {
		o.Answers.Put(*m)
	}
}

// startedJob returns the job that ev reports as started, or "".
func startedJob(m *wire.Message, ev *wire.Event) string {
	if ev.Kind != wire.Progress || m.Kind != wire.Response || !m.Final {
		return ""
	}
	return scan.String(ev.Job)
}

// A commentary writes events other than data to stderr, and stores some of them.
type commentary struct {
	advice *dialects.Advice // the fix of the last guidance, or nil
	types  map[string]bool  // the unknown event types that caused a warning
	data   atomic.Bool      // data was printed; warnWaiting reads this in another goroutine
	warned atomic.Bool      // set after a warning about a notification without a hook
}

// show writes an event other than data to the console.
func (s *commentary) show(run *env.Env, method string, cat *catalog.Catalog, ev *wire.Event) {
	switch {
	case ev.Kind == wire.Guidance && ev.Fix == nil && ev.Extra != nil:
		var shown wire.Event
		given := *ev // advice stores the event
		s.advice, shown = dialects.NewAdvice(run.Line, method, cat, &given)
		*ev = given // with the fix
		run.Console.Event(shown)
	case ev.Kind != wire.Data:
		run.Console.Event(*ev)
	default:
		if !s.data.Load() {
			s.data.Store(true)
		}
		// Warn once about each type of event that the dialect does not have. Such an event is printed as data. A peer can invent any
		// number of types.
		const most = 20
		if ev.Topic != "" && !s.types[ev.Topic] && len(s.types) < most {
			wire.Put(&s.types, ev.Topic, true)
			run.Console.Warn("the peer sends events of the type " + strconv.Quote(ev.Topic) + ", which is not part of the protocol")
		}
	}
	if ev.Err != nil && ev.Err.Kind == "" && s.advice != nil {
		ev.Err.Kind = s.advice.Kind
	}
}
