package match

import (
	"bytes"
	"strconv"

	"rpcx/wire/scan"
	"rpcx/wire/tape"
)

// Values map the made-up values of the recorded conversation, such as ids, to
// those of the live one. Strings are mapped wherever a whole string equals one,
// numbers only at places where the dialect has made-up values.
type Values struct {
	byText map[string]string // recorded scalar (as JSON) → the live one
	// IsStream reports whether a value is a recorded stream to which items belong, as
	// JSON: a result that is one was made up. nil: there are none.
	IsStream func(id []byte) bool
}

// live returns the live value for a recorded one.
func (v *Values) live(recorded []byte) (string, bool) {
	if v == nil {
		return "", false
	}
	live, ok := v.byText[string(recorded)]
	return live, ok
}

// Any reports whether a value has become another one.
func (v *Values) Any() bool { return v != nil && len(v.byText) > 0 }

// opens reports whether want, at path in an answer, is the name of a stream
// that the answer opens.
func (v *Values) opens(path []string, want []byte) bool {
	return v != nil && v.IsStream != nil && len(path) == 1 && path[0] == "result" && v.IsStream(want)
}

// StreamOf returns the stream that an item belongs to, as JSON, or nil if msg is not an item.
func (r *Rules) StreamOf(msg []byte) []byte {
	id, _ := r.StreamAt(msg)
	return id
}

// StreamAt is StreamOf, with the pointer of what says so.
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

// EndsStream returns the stream, of those in v, that the request msg asks to end, as JSON, or nil if it is not such a
// request.
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

// Set records that the scalar recorded has become live; both are JSON.
func (v *Values) Set(recorded, live []byte) {
	if bytes.Equal(recorded, live) {
		return
	}
	if v.byText == nil {
		v.byText = map[string]string{}
	}
	v.byText[string(recorded)] = string(live)
}

// Learn records how the scalars of got differ from those of want at the same places. If answers is set, got is a response:
// any string that looks generated counts then, else only generated values of the dialect.
func (r *Rules) Learn(method string, want, got []byte, answers bool, v *Values) {
	w := walk{each: func(path []string, want, got []byte) {
		kind := scan.Type(want)
		if want == nil || kind != scan.Type(got) || kind != 's' && kind != 'n' || r.ownID(path) {
			return // the ids of messages are mapped elsewhere, as each side makes its own
		}
		if kind == 's' && answers && looksMadeUp(want) || at(r.madeUp, method, path) || v.opens(path, want) {
			v.Set(want, got)
		}
	}}
	w.redacted = func(want, got []byte) {
		text, _ := scan.Text(want)
		if number, _ := tape.SecretNumber(text); number > 0 && scan.Type(got) == 's' && !tape.IsRedacted(got) {
			v.Set(want, got) // where it comes again, it is the same secret
		}
	}
	w.pair(want, got)
}

// ownID reports whether path leads to the id of a message, in dialects in which each side has ids of
// its own.
func (r *Rules) ownID(path []string) bool {
	return len(path) == 1 && path[0] == r.shape.ID && !r.shape.Typed
}

// looksMadeUp reports whether a JSON string may be an id: it has a digit, or is
// longer than a word. A plain word that differs ("shipped") is not an id, and
// the same word elsewhere must not be replaced.
func looksMadeUp(val []byte) bool {
	return len(val) > 18 || bytes.ContainsAny(val, "0123456789")
}

// Strings calls each for the JSON strings in msg that look made up.
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

// Rewrite appends msg, a recorded message, to b with each generated value replaced by the live one. The message's own id
// stays unchanged in dialects in which each side has its own ids.
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
