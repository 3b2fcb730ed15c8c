package introspect

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// An outlet writes the items of one stream: each with the service's hash and
// its provenance, done once, and nothing more after the far side has
// unsubscribed.
type outlet struct {
	method      string
	id          wire.ID
	emit        func(wire.Event) error
	cancel      context.CancelFunc
	contentType string // of data that says none
	head        string // what each item begins with, up to its type
	tail        string // and its provenance

	mu    sync.Mutex
	items bool // something was said
	wrong bool // an error was said, of which it does not recover
	ended bool // nothing more is wanted
}

func newOutlet(o *offer, method string, emit func(wire.Event) error, cancel context.CancelFunc) *outlet {
	module, name := Split(method)
	if o.module(module) == nil {
		module = serviceModule // a name that the far side has made up is no module of ours
	}
	source, _ := json.Marshal([]string{module})
	out := &outlet{
		method: method, id: newID(), emit: emit, cancel: cancel,
		contentType: strings.TrimSuffix(module+"."+name, "."),
		head:        `{"service_hash":"` + o.hash + `","type":"`,
		tail:        `","provenance":` + string(source),
	}
	if entry := o.catalog.Method(method); entry != nil && len(entry.Events) == 1 {
		for contentType := range entry.Events {
			out.contentType = contentType
		}
	}
	return out
}

// item writes an event with these members, of which each name is followed by its
// value.
func (o *outlet) item(kind string, members ...string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return context.Canceled
	}
	o.items = true
	b := append(append(append(make([]byte, 0, 256), o.head...), kind...), o.tail...)
	for i := 0; i < len(members); i += 2 {
		if members[i+1] != "" {
			b = append(append(append(b, `,"`...), members[i]...), `":`...)
			b = append(b, members[i+1]...)
		}
	}
	b = append(b, '}')
	return o.emit(wire.Event{Kind: wire.Data, Stream: o.id, Data: b})
}

// event writes one event of a hook. After an error it takes no more. The
// protocol has no log lines: they go as progress.
func (o *outlet) event(ev wire.Event) error {
	if o.failed() {
		return context.Canceled
	}
	switch ev.Kind {
	case wire.Data:
		contentType := ev.ContentType
		if contentType == "" {
			contentType = o.contentType
		}
		return o.data(contentType, ev.Data)
	case wire.Progress:
		return o.item(typeProgress, "message", quoted(ev.Message), "percentage", string(ev.Fraction))
	case wire.Log:
		return o.item(typeProgress, "message", quoted(ev.Message))
	case wire.Failure:
		return o.fail(nil, ev.Err)
	}
	return nil
}

func (o *outlet) data(contentType string, data json.RawMessage) error {
	if data == nil {
		data = json.RawMessage("null")
	}
	return o.item(typeData, "content_type", quoted(contentType), "data", string(data))
}

// fail writes an error, after what guides, which may be nil. It is the last but
// for done, unless the error itself says that it is recoverable.
func (o *outlet) fail(guide []string, err error) error {
	if guide != nil {
		if err := o.item(typeGuidance, guide...); err != nil {
			return err
		}
	}
	e := wire.AsError(err)
	recoverable := string(scan.Get(e.JSON(), "recoverable")) == "true"
	text := "false"
	if recoverable {
		text = "true"
	}
	err = o.item(typeError, "error", quoted(e.Message), "recoverable", text, "code", string(e.Code), "data", string(e.Data))
	if err != nil || recoverable {
		return err
	}
	o.mu.Lock()
	o.wrong = true
	o.mu.Unlock()
	return nil
}

// done writes the end.
func (o *outlet) done() error {
	o.mu.Lock()
	ended := o.ended
	o.mu.Unlock()
	if ended {
		return nil
	}
	err := o.item(typeDone)
	o.end()
	return err
}

// end is the end without a word.
func (o *outlet) end() {
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
	o.cancel()
}

// failed says that an error was written, of which the stream does not recover.
func (o *outlet) failed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wrong || o.ended
}

// some says that something was written.
func (o *outlet) some() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.items
}

func quoted(text string) string { return string(scan.AppendQuoted(nil, text)) }
