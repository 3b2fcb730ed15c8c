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
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// maxRemote bounds the stored function references of the peer, and maxRemoteBytes bounds the size of their descriptions
// in bytes.
const (
	maxRemote      = 1 << 16
	maxRemoteBytes = 8 << 20
)

// refs contains the function references of a connection in both directions. They are valid until the connection closes
// ("Clear connection boundaries" in the specification).
type refs struct {
	last       atomic.Int64
	localHooks sync.Map // the hooks of local functions that were sent to the peer, by id

	mu sync.Mutex
	// remote contains the peer's functions by id: the function value if it has schemas, and nil otherwise.
	remote map[string]json.RawMessage
	bytes  int // the size of remote in bytes
}

// cutRef returns the ID in a METHOD "ref:ID".
func cutRef(method string) (id string, ok bool) { return strings.CutPrefix(method, RefPrefix) }

// insertFunctions inserts a function value into params at each JSON pointer of funcs, for the hook of that pointer. known
// describes the hooks and may be nil. insertFunctions fails if params lack such a pointer.
func (r *refs) insertFunctions(params json.RawMessage, funcs map[string]string, known *catalog.Catalog) (json.RawMessage, error) {
	for _, pointer := range slices.Sorted(maps.Keys(funcs)) {
		if pointer != "" && scan.At(params, pointer) == nil {
			return nil, fmt.Errorf("the params have no place %s for a function", pointer)
		}
		params = scan.Put(params, pointer, r.function(funcs[pointer], known))
	}
	return params, nil
}

// function creates a function value for the hook name. known describes the hook and may be nil.
func (r *refs) function(name string, known *catalog.Catalog) json.RawMessage {
	id := "f" + strconv.FormatInt(r.last.Add(1), 10)
	r.localHooks.Store(id, name)
	var value scan.Object
	value.Text(functionSpellings[0], id)
	if m := known.Method(name); m != nil {
		addAbout(&value, known, m)
	}
	return value.End()
}

// answers returns the name of the hook that answers the local function with that id.
func (r *refs) answers(id string) (name string, ok bool) {
	hook, _ := r.localHooks.Load(id)
	name, ok = hook.(string)
	return name, ok
}

// unknownRef returns the error for an invoke of an unknown or released function reference.
func unknownRef(id string) *wire.Error {
	return kindError(wire.CodeServer, kindRef, "unknown function reference: "+id)
}

// release removes the local functions that the params of a release_ref name. (The specification defines the method;
// spellings.go defines its params.)
func (r *refs) release(params json.RawMessage) {
	for _, id := range releasedIDs(params) {
		r.localHooks.Delete(id)
	}
}

// drop removes the functions that a release_ref of the user names, so that Shutdown does not release them again.
func (r *refs) drop(params json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range releasedIDs(params) {
		if fn, known := r.remote[id]; known {
			r.bytes -= len(fn) + len(id)
			delete(r.remote, id)
		}
	}
}

// releasedIDs returns the ids in the params of a release_ref.
func releasedIDs(params json.RawMessage) []string {
	ids := []string{refID(firstOf(params, releasedSpellings))}
	for id := range scan.Elements(scan.Get(params, releasedListWord)) {
		ids = append(ids, refID(id))
	}
	return ids
}

// hold stores the function values in a value from the peer: their schemas, and their ids, which Shutdown releases.
func (r *refs) hold(val []byte) {
	if !mayHoldFunction(val) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	eachFunction(val, func(id string, fn []byte) {
		if scan.Get(fn, "input") == nil && scan.Get(fn, "output") == nil {
			fn = nil
		}
		old, known := r.remote[id]
		more := len(fn) - len(old)
		if !known {
			more += len(id)
		}
		if r.bytes+more > maxRemoteBytes || !known && len(r.remote) >= maxRemote {
			return
		}
		r.bytes += more
		wire.Put(&r.remote, strings.Clone(id), json.RawMessage(bytes.Clone(fn)))
	})
}

// described returns the peer's function value with that id, or nil if it has no schemas.
func (r *refs) described(id string) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.remote[id]
}

// held removes and returns the ids of the peer's functions.
func (r *refs) held() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := slices.Sorted(maps.Keys(r.remote))
	r.remote, r.bytes = nil, 0
	return ids
}

// mayHoldFunction is a quick test that excludes most values. It reports whether val contains, anywhere, a key that
// function values have.
func mayHoldFunction(val []byte) bool {
	return slices.ContainsFunc(append([]string{fnTypeRef}, functionSpellings...), func(word string) bool { return bytes.Contains(val, []byte(`"`+word+`"`)) })
}

// An openValue is an incomplete object or array.
type openValue struct {
	start int
	id    string // the id if a key identifies the object as a function value, and "" otherwise
	ref   string // the id if the type identifies the object as a function value
	typed bool   // the object has "type": "function"
	inner int    // the number of function values before its start
}

// A functionValue is the position and the id of a function value.
type functionValue struct {
	id         string
	start, end int
}

// eachFunction calls each with every outermost function value in val, which must be valid JSON. It scans once and
// without recursion.
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

// note reads a member of the object: its key, and its value, which starts at val[at].
func (o *openValue) note(key, val []byte, at int) {
	scalar := func() string {
		end, err := scan.Value(val, at, 0)
		if err != nil {
			return "" // not JSON
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

// functionID returns the id in a function value, or "" for other objects.
func functionID(obj []byte) string {
	if id := refID(firstOf(obj, functionSpellings)); id != "" {
		return id
	}
	if scan.String(scan.Get(obj, fnTypeWord)) == fnType {
		return refID(scan.Get(obj, fnTypeRef))
	}
	return ""
}

// refID returns an id as text: the content of a string, or the digits of a number.
func refID(val []byte) string {
	if scan.Type(val) == 'n' {
		return string(val)
	}
	return scan.String(val)
}
