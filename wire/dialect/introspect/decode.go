package introspect

import (
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// The types of event.
const (
	typeProgress = "progress"
	typeData     = "data"
	typeError    = "error"
	typeDone     = "done"
	typeGuidance = "guidance"
)

// Decode finds the messages in raw, and of each item whether it is its stream's
// last.
func (c *codec) Decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	msgs, batch, err = c.Codec.Decode(raw)
	for i := range msgs {
		if m := &msgs[i]; m.Kind == wire.Item && m.Err == nil && scan.Type(m.Body) == 'o' {
			c.item(m)
		}
	}
	return msgs, batch, err
}

// item looks at an item's payload: its type says whether it is the last, its
// hash whether what we know of the service is out of date.
func (c *codec) item(m *wire.Message) {
	var kind, hash, errorKind []byte
	in := scan.Object(m.Body, wire.DefaultMaxDepth)
	for key, val, ok := in.Next(); ok; key, val, ok = in.Next() {
		switch string(key) {
		case "type":
			kind = val
		case "service_hash":
			hash = val
		case "error_kind":
			errorKind = val
		}
	}
	if string(kind) == `"done"` {
		m.Final = true
	}
	if hash != nil {
		c.hashes.note(hash)
	}
	if string(errorKind) == `"invalid_params"` && string(kind) == `"guidance"` {
		c.hashes.mistrust()
	}
}

// words keeps the short texts that come again and again, such as content types,
// so that each is allocated once.
type words struct {
	mu   sync.Mutex
	kept map[string]string // by token
}

// wordsMost bounds the texts that are kept, and wordLength how long they are.
const (
	wordsMost  = 256
	wordLength = 128
)

// text is the text of a string token; "" of anything else.
func (w *words) text(token []byte) string {
	if len(token) > wordLength {
		text, _ := scan.Text(token)
		return text
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if text, ok := w.kept[string(token)]; ok {
		return text
	}
	text, _ := scan.Text(token)
	if w.kept == nil || len(w.kept) >= wordsMost {
		w.kept = map[string]string{}
	}
	w.kept[string(token)] = text
	return text
}
