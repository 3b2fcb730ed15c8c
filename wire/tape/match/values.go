package match

import (
	"bytes"
	"strconv"

	"rpcx/wire/scan"
	"rpcx/wire/tape"
)

// Values map the recorded conversation's generated values, such as ids, to the values of the live conversation. A whole
// string is mapped everywhere, and a number only at places for generated values of the dialect.
type Values struct {
	byText map[string]string // from recorded to live scalars, as JSON
	// IsStream reports whether a JSON value names a recorded stream with items. Such a value is generated. IsStream is nil if the tape
	// has no streams.
	IsStream func(id []byte) bool
}

// live returns the live value of a recorded one.
func (v *Values) live(recorded []byte) (string, bool) {
	if v == nil {
		return "", false
	}
	live, ok := v.byText[string(recorded)]
	return live, ok
}

// Any reports whether a value is mapped to a different one.
func (v *Values) Any() bool { return v != nil && len(v.byText) > 0 }

// opens reports whether want, at path in a response, names a new stream.
func (v *Values) opens(path []string, want []byte) bool {
	return v != nil && v.IsStream != nil && len(path) == 1 && path[0] == "result" && v.IsStream(want)
}

// StreamOf returns the stream of an item as JSON, or nil if msg is not an item.
func (r *Rules) StreamOf(msg []byte) []byte {
	id, _ := r.StreamAt(msg)
	return id
}

// StreamAt returns the stream of an item as StreamOf does, and the pointer to the stream's name.
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

// EndsStream returns, as JSON, the stream in v that the request msg ends. It returns nil for any other request.
func (r *Rules) EndsStream(method string, msg []byte, v *Values) []byte {
	params := scan.Get(msg, "params")
	ends := func(val []byte, name string) bool {
		return at(r.ends, method, []string{"params", name}) && v.IsStream != nil && v.IsStream(val)
	}
	i := 0
	for name, val := range scan.Named(params) {
		if ends(val, name) {
			return val
		}
	}
	for val := range scan.Elements(params) {
		if ends(val, strconv.Itoa(i)) {
			return val
		}
		i++
	}
	return nil
}

// Set maps the scalar recorded to live. Both are JSON.
func (v *Values) Set(recorded, live []byte) {
	if bytes.Equal(recorded, live) {
		return
	}
	if v.byText == nil {
		v.byText = map[string]string{}
	}
	v.byText[string(recorded)] = string(live)
}

// Learn maps each scalar of want to the different scalar of got at the same place. If answers is set, got is a response, and Learn maps
// every string that looks generated. Otherwise it maps only the generated values of the dialect.
func (r *Rules) Learn(method string, want, got []byte, answers bool, v *Values) {
	w := walk{each: func(path []string, want, got []byte) {
		kind := scan.Type(want)
		if want == nil || kind != scan.Type(got) || kind != 's' && kind != 'n' || r.ownID(path) {
			return // the message ids of each side are mapped elsewhere
		}
		if kind == 's' && answers && looksMadeUp(want) || at(r.madeUp, method, path) || v.opens(path, want) {
			v.Set(want, got)
		}
	}}
	w.redacted = func(want, got []byte) {
		text, _ := scan.Text(want)
		if number, _ := tape.SecretNumber(text); number > 0 && scan.Type(got) == 's' && !tape.IsRedacted(got) {
			v.Set(want, got) // the same secret may appear again
		}
	}
	w.pair(want, got)
}

// ownID reports whether path leads to a message id in a dialect in which each side generates ids.
func (r *Rules) ownID(path []string) bool {
	return len(path) == 1 && path[0] == r.shape.ID && !r.shape.Typed
}

// looksMadeUp reports whether a JSON string may be an id: it has a digit or is longer than a word. A different plain word, such as
// "shipped", is not an id. Other occurrences of it must stay unchanged.
func looksMadeUp(val []byte) bool {
	return len(val) > 18 || bytes.ContainsAny(val, "0123456789")
}

// Strings calls each for the JSON strings in msg that look generated.
func Strings(msg []byte, each func(val []byte)) {
	switch scan.Type(msg) {
	case 's':
		if looksMadeUp(msg) {
			each(msg)
		}
	case 'o':
		for _, part := range scan.Named(msg) {
			Strings(part, each)
		}
	case 'a':
		for part := range scan.Elements(msg) {
			Strings(part, each)
		}
	}
}

// Rewrite appends the recorded message msg to b, with live values in place of generated ones. It keeps the message's id in dialects
// in which each side generates ids.
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
		if !ok || r.ownID(path) || kind == 'n' && !at(r.madeUp, method, path) {
			return nil
		}
		return []byte(live)
	})
}
