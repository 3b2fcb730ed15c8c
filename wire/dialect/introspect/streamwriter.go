package introspect

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A streamWriter writes the items of one stream. It adds the service hash and the provenance to each item, and writes
// done exactly once. After the peer has unsubscribed, it writes nothing.
type streamWriter struct {
	method      string
	id          wire.ID
	emit        func(wire.Event) error
	cancel      context.CancelFunc
	contentType string // the default content type of data
	hash        string // the service hash
	source      []byte // the provenance, a JSON array

	items bool // an item was written
	wrong bool // an unrecoverable error was written

	mu    sync.Mutex
	ended bool // done was written, or the peer has unsubscribed
}

func newStreamWriter(mc *moduleCatalog, method string, emit func(wire.Event) error, cancel context.CancelFunc) *streamWriter {
	module, name := Split(method)
	if mc.module(module) == nil {
		module = serviceModule // the peer invented the module's name, so it must not become the provenance
	}
	out := &streamWriter{
		method: method, emit: emit, cancel: cancel,
		id:          wire.ID(`"sub_` + wire.RandomHex(8) + `"`), // other clients cannot guess it
		contentType: strings.TrimSuffix(module+"."+name, "."),
		hash:        mc.hash,
		source:      scan.TextsOf([]string{module}),
	}
	if entry := mc.catalog.Method(method); entry != nil && len(entry.Events) == 1 {
		for contentType := range entry.Events {
			out.contentType = contentType
		}
	}
	return out
}

// item writes one event. add writes the members of the event's type.
func (w *streamWriter) item(kind string, add func(o *scan.Object)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return context.Canceled
	}
	w.items = true
	return w.emit(w.message(kind, add))
}

func (w *streamWriter) message(kind string, add func(o *scan.Object)) wire.Event {
	o := scan.AppendObject(make([]byte, 0, 256))
	o.Text("service_hash", w.hash)
	o.Text("type", kind)
	o.Add("provenance", w.source)
	add(&o)
	return wire.Event{Kind: wire.Data, Stream: w.id, Data: o.End()}
}

// event writes one event of a hook. After an unrecoverable error, it returns context.Canceled to end the hook. Log
// lines become progress, because the protocol has no event for them.
func (w *streamWriter) event(ev wire.Event) error {
	if w.failed() {
		return context.Canceled
	}
	switch ev.Kind {
	case wire.Data:
		contentType := cmp.Or(ev.ContentType, w.contentType)
		return w.data(contentType, ev.Data)
	case wire.Progress:
		return w.item(typeProgress, func(o *scan.Object) {
			o.Text("message", ev.Message)
			o.Add("percentage", []byte(ev.Fraction))
		})
	case wire.Log:
		return w.item(typeProgress, func(o *scan.Object) { o.Text("message", ev.Message) })
	case wire.Failure:
		return w.fail(nil, ev.Err)
	}
	return nil
}

func (w *streamWriter) data(contentType string, data json.RawMessage) error {
	data = scan.OrNull(data)
	return w.item(typeData, func(o *scan.Object) {
		o.Text("content_type", contentType)
		o.Add("data", data)
	})
}

// fail writes an error event. If guide is not nil, it writes a guidance event before the error. Only done may follow,
// unless the error is recoverable.
func (w *streamWriter) fail(guide func(o *scan.Object), err error) error {
	if guide != nil {
		if err := w.item(typeGuidance, guide); err != nil {
			return err
		}
	}
	e := wire.AsError(err)
	recoverable := string(scan.Get(e.JSON(), "recoverable")) == "true"
	err = w.item(typeError, func(o *scan.Object) {
		o.Text("error", e.Message)
		o.Bool("recoverable", recoverable)
		o.Add("code", []byte(e.Code))
		o.Add("data", e.Data)
	})
	w.wrong = w.wrong || err == nil && !recoverable
	return err
}

// done writes the done event unless the stream has ended. It marks the stream as ended first, because a client may read
// the event and unsubscribe at once.
func (w *streamWriter) done() error {
	if !w.end() {
		return nil
	}
	return w.emit(w.message(typeDone, func(*scan.Object) {}))
}

// end ends the stream. It returns false if the stream has already ended.
func (w *streamWriter) end() (was bool) {
	w.mu.Lock()
	was = !w.ended
	w.ended = true
	w.mu.Unlock()
	w.cancel()
	return was
}

// failed reports whether the stream accepts no more events, after an unrecoverable error or its end.
func (w *streamWriter) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrong || w.ended
}
