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

// Decode returns the messages in raw, and marks the last item of a stream as
// final.
func (c *codec) Decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	msgs, batch, err = c.Codec.Decode(raw)
	for i := range msgs {
		if m := &msgs[i]; m.Kind == wire.Item && m.Err == nil && scan.Type(m.Body) == 'o' {
			c.item(m)
		}
	}
	return msgs, batch, err
}

// item interprets an item's payload: the type shows whether it is the last one, the service hash whether cached schemas
// are out of date, and guidance about invalid params that they may be wrong.
func (c *codec) item(m *wire.Message) {
	var kind, hash, errorKind []byte
	for key, val := range scan.Members(m.Body) {
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

// internedTexts stores the short strings that every item repeats, such as event types and content types, so that each
// is allocated once.
type internedTexts struct {
	mu   sync.Mutex
	kept map[string]string // by token
}

// maxInterned bounds the number of stored texts, and maxInternedLength their length in bytes, because a peer chooses
// them.
const (
	maxInterned       = 256
	maxInternedLength = 128
)

// text returns the text of a JSON string token, or "" for any other token.
func (t *internedTexts) text(token []byte) string {
	if len(token) > maxInternedLength {
		return scan.String(token)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if text, ok := t.kept[string(token)]; ok {
		return text
	}
	text, _ := scan.Text(token)
	if t.kept == nil || len(t.kept) >= maxInterned {
		t.kept = map[string]string{}
	}
	t.kept[string(token)] = text
	return text
}
