package match

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// Values maps generated values in the recorded conversation, such as ids, to those in the live conversation. A string
// is mapped wherever it occurs, and a number only at places where the dialect has generated values.
type Values struct {
	byText map[string]string // maps recorded scalars to live ones, as JSON
	// IsStream reports whether a JSON value is the name of a stream that has items on the tape. Such a name is a generated value.
	// IsStream is nil if there are no streams on the tape.
	IsStream func(id []byte) bool
}

// live returns the live value for a recorded value.
func (v *Values) live(recorded []byte) (string, bool) {
	live, ok := v.byText[string(recorded)]
	return live, ok
}

// Any reports whether any value is mapped to a different one.
func (v *Values) Any() bool { return len(v.byText) > 0 }

// opens reports whether want, the value at path in a response, is the name of a new stream.
func (v *Values) opens(path []string, want []byte) bool {
	return v.IsStream != nil && len(path) == 1 && path[0] == "result" && v.IsStream(want)
}

// StreamOf returns the name of an item's stream, as JSON. It returns nil if msg is not an item.
func (r *Rules) StreamOf(msg []byte) []byte {
	id, _ := r.StreamAt(msg)
	return id
}

// StreamAt returns the same name as StreamOf, and the pointer to it.
func (r *Rules) StreamAt(msg []byte) (id []byte, pointer string) {
	if len(r.shape.Streams) == 0 {
		return nil, ""
	}
	params := scan.Get(msg, "params")
	if scan.Type(params) != 'o' {
		return nil, ""
	}
	for _, name := range r.shape.Streams {
		if id := scan.Get(params, name); id != nil {
			return id, "/params/" + name
		}
	}
	return nil, ""
}

// EndsStream returns, as JSON, the name of the stream that the request msg ends. The stream must be known to v. For any
// other request, it returns nil.
func (r *Rules) EndsStream(method string, msg []byte, v *Values) []byte {
	for name, val := range scan.Parts(scan.Get(msg, "params")) {
		if at(r.ends, method, []string{"params", name}) && v.IsStream != nil && v.IsStream(val) {
			return val
		}
	}
	return nil
}

// Set maps recorded to live. Both are scalars in JSON.
func (v *Values) Set(recorded, live []byte) {
	if bytes.Equal(recorded, live) {
		return
	}
	wire.Put(&v.byText, string(recorded), string(live))
}

// Learn maps scalars in want to the scalars at the same places in got, if these are different. If answers is set, got is a response,
// and all strings that look generated are mapped. Otherwise only the dialect's generated values are mapped.
func (r *Rules) Learn(method string, want, got []byte, answers bool, v *Values) {
	w := walk{each: func(path []string, want, got []byte) {
		kind := scan.Type(want)
		if want == nil || kind != scan.Type(got) || kind != 's' && kind != 'n' || r.ownID(path) {
			return // message ids are mapped elsewhere
		}
		if kind == 's' && answers && looksGenerated(want) || at(r.generated, method, path) || v.opens(path, want) {
			v.Set(want, got)
		}
	}}
	w.redacted = func(want, got []byte) {
		if number, _ := redact.IsMarked(want); number > 0 && scan.Type(got) == 's' && !isRedacted(got) {
			v.Set(want, got) // because the same secret may occur again
		}
	}
	w.pair(want, got)
}

// ownID reports whether path leads to the id of a message, in a dialect where each side generates ids of its own.
func (r *Rules) ownID(path []string) bool {
	return len(path) == 1 && path[0] == r.shape.ID && !r.shape.Typed
}

// looksGenerated reports whether a JSON string may be an id: it contains a digit, or is longer than a word. A plain
// word that differs, such as "shipped", is not an id. It must not be replaced where it occurs elsewhere.
func looksGenerated(val []byte) bool {
	return len(val) > 18 || bytes.ContainsAny(val, "0123456789")
}

// Strings calls each for the JSON strings in msg that look generated.
func Strings(msg []byte, each func(val []byte)) {
	if scan.Type(msg) == 's' && looksGenerated(msg) {
		each(msg)
	}
	for _, part := range scan.Parts(msg) {
		Strings(part, each)
	}
}

// Rewrite appends the recorded message msg to b, with live values in place of the generated ones. It keeps the id of the message in
// dialects where each side generates ids of its own.
func (r *Rules) Rewrite(b []byte, method string, msg []byte, v *Values) []byte {
	if !v.Any() {
		return append(b, msg...)
	}
	return Edit(b, msg, func(path []string, val []byte) []byte {
		kind := scan.Type(val)
		if kind != 's' && kind != 'n' {
			return nil
		}
		live, ok := v.live(val)
		if !ok || r.ownID(path) || kind == 'n' && !at(r.generated, method, path) {
			return nil
		}
		return []byte(live)
	})
}
