package scomp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// maxTheirs and maxTheirsBytes bound the number of the peer's function references that are remembered for their
// release, and the bytes of their descriptions.
const (
	maxTheirs      = 1 << 16
	maxTheirsBytes = 8 << 20
)

// refs has the function references of a connection, in both directions. They are forgotten when it closes (page, "Clear
// connection boundaries").
type refs struct {
	mu   sync.Mutex
	last int
	ours map[string]string // hook names of local functions sent to the peer, by id
	// theirs are the functions received from the peer, by id: the function value if it has schemas, else nil.
	theirs map[string]json.RawMessage
	bytes  int // of theirs
}

// cutRef returns the id of the function that a METHOD "ref:ID" names.
func cutRef(method string) (id string, ok bool) { return strings.CutPrefix(method, RefPrefix) }

// lend puts function values into params: at each JSON pointer of funcs one that
// the named hook answers, described as in known, which may be nil. It fails if a
// pointer leads nowhere.
func (r *refs) lend(params json.RawMessage, funcs map[string]string, known *catalog.Catalog) (json.RawMessage, error) {
	for _, pointer := range slices.Sorted(maps.Keys(funcs)) {
		out, ok := put(params, pointer, r.function(funcs[pointer], known))
		if !ok {
			return nil, fmt.Errorf("there is no place %s for a function in the params", pointer)
		}
		params = out
	}
	return params, nil
}

// function returns a new function value that the hook name answers, described as
// in known, which may be nil.
func (r *refs) function(name string, known *catalog.Catalog) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	id := "f" + strconv.Itoa(r.last)
	wire.Put(&r.ours, id, name)
	var value scan.Object
	value.Text(functionSpellings[0], id)
	if m := known.Method(name); m != nil {
		addAbout(&value, known, m)
	}
	return value.End()
}

// answers returns the hook behind the local function with that id.
func (r *refs) answers(id string) (name string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, ok = r.ours[id]
	return name, ok
}

// unknownRef returns the error for an invoke of a function reference that was never sent, or was released.
func unknownRef(id string) *wire.Error {
	return kindError(wire.CodeServer, kindRef, "unknown function reference: "+id)
}

// release forgets the local functions that the params of a release_ref name. (The method is in the specification; the
// spelling of its params is in spellings.go.)
func (r *refs) release(params json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range releasedIDs(params) {
		delete(r.ours, id)
	}
}

// drop forgets the functions of the peer that a release_ref of the user names. They are not released again at the end.
func (r *refs) drop(params json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range releasedIDs(params) {
		if fn, known := r.theirs[id]; known {
			r.bytes -= len(fn) + len(id)
			delete(r.theirs, id)
		}
	}
}

// releasedIDs returns the ids that the params of a release_ref name.
func releasedIDs(params json.RawMessage) []string {
	ids := []string{refID(firstOf(params, releasedSpellings))}
	for id := range scan.Elements(scan.Get(params, releasedListWord)) {
		ids = append(ids, refID(id))
	}
	return ids
}

// hold remembers the function values in a value from the peer, so that they can be invoked with their schemas and are
// released at the end.
func (r *refs) hold(val []byte) {
	if !mayHoldFunction(val) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.theirs == nil {
		r.theirs = map[string]json.RawMessage{}
	}
	eachFunction(val, func(id string, fn []byte) {
		if scan.Get(fn, "input") == nil && scan.Get(fn, "output") == nil {
			fn = nil
		}
		old, known := r.theirs[id]
		more := len(fn) - len(old)
		if !known {
			more += len(id)
		}
		if r.bytes+more > maxTheirsBytes || !known && len(r.theirs) >= maxTheirs {
			return
		}
		r.bytes += more
		r.theirs[strings.Clone(id)] = bytes.Clone(fn)
	})
}

// described returns the peer's function value with that id, if it has schemas.
func (r *refs) described(id string) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.theirs[id]
}

// held returns the remembered ids of the peer's functions, and forgets them.
func (r *refs) held() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := slices.Sorted(maps.Keys(r.theirs))
	r.theirs, r.bytes = nil, 0
	return ids
}

// mayHoldFunction is a cheap test that excludes most values. It reports whether a key of a function value occurs
// anywhere in val.
func mayHoldFunction(val []byte) bool {
	return slices.ContainsFunc(append([]string{fnTypeRef}, functionSpellings...), func(word string) bool { return bytes.Contains(val, []byte(`"`+word+`"`)) })
}

// An openValue is an object or array whose end has not been reached.
type openValue struct {
	start int
	id    string // the id, if its key marks it as a function value; "" if not so far
	ref   string // the id, if its type marks it as one
	typed bool   // it has "type": "function"
	inner int    // how many function values had been found when it began
}

// A functionValue is the place of a function value, and its id.
type functionValue struct {
	id         string
	start, end int
}

// eachFunction calls each with every outermost function value in val, which must be valid JSON. It scans once and
// without recursion, at any depth of val.
func eachFunction(val []byte, each func(id string, fn []byte)) {
	var open []openValue
	var all []functionValue
	for i := 0; i < len(val); i++ {
		switch val[i] {
		case '{', '[':
			open = append(open, openValue{start: i, inner: len(all)})
		case '}', ']':
			o := open[len(open)-1]
			open = open[:len(open)-1]
			if o.typed && o.id == "" {
				o.id = o.ref
			}
			if o.id != "" {
				all = append(all[:o.inner], functionValue{o.id, o.start, i + 1})
			}
		case '"':
			end, err := scan.Value(val, i, 0)
			if err != nil {
				return
			}
			if after := scan.Skip(val, end); len(open) > 0 && after < len(val) && val[after] == ':' {
				open[len(open)-1].note(val[i+1:end-1], val, scan.Skip(val, after+1))
			}
			i = end - 1
		}
	}
	for _, f := range all {
		each(f.id, val[f.start:f.end])
	}
}

// note looks at a member of the object: its key, and the place in val at which
// its value begins.
func (o *openValue) note(key, val []byte, at int) {
	scalar := func() string {
		end, err := scan.Value(val, at, 0)
		if err != nil {
			return "" // no JSON
		}
		return refID(val[at:end])
	}
	for _, word := range functionSpellings {
		if o.id == "" && scan.IsKey(key, word) {
			o.id = scalar()
		}
	}
	if scan.IsKey(key, fnTypeRef) {
		o.ref = scalar()
	}
	if scan.IsKey(key, fnTypeWord) {
		o.typed = scalar() == fnType
	}
}

// functionID returns the id of a function value, or "" if obj is not a function value.
func functionID(obj []byte) string {
	if id := refID(firstOf(obj, functionSpellings)); id != "" {
		return id
	}
	if scan.String(scan.Get(obj, fnTypeWord)) == fnType {
		return refID(scan.Get(obj, fnTypeRef))
	}
	return ""
}

// refID returns an id as text: a string, or the digits of a number unchanged.
func refID(val []byte) string {
	if scan.Type(val) == 'n' {
		return string(val)
	}
	return scan.String(val)
}
