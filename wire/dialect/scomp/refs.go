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

// theirsMost and theirsBytes bound the references that are kept to be released,
// with what they say of themselves.
const (
	theirsMost  = 1 << 16
	theirsBytes = 8 << 20
)

// refs are the function references of a connection, in both directions. They
// end with it.
type refs struct {
	mu   sync.Mutex
	last int
	ours map[string]string // what answers a function of ours, by the id that they know it by
	// theirs are the functions that they have handed out to us, by their ids: the
	// value where it says what it takes, else nil.
	theirs map[string]json.RawMessage
	bytes  int // of theirs
}

// cutRef is the function that a user's METHOD names.
func cutRef(method string) (id string, ok bool) { return strings.CutPrefix(method, RefPrefix) }

// lend puts functions of ours into params: at each JSON pointer the one that is
// answered by that hook, as known, which may be nil, describes it.
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

// function is a new function value, answered by what name says and described as
// known, which may be nil, does.
func (r *refs) function(name string, known *catalog.Catalog) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ours == nil {
		r.ours = map[string]string{}
	}
	r.last++
	id := "f" + strconv.Itoa(r.last)
	r.ours[id] = name
	value := member([]byte{'{'}, fnWords[0], scan.AppendQuoted(nil, id))
	if m := known.Method(name); m != nil {
		value = appendAbout(value, known, m)
	}
	return append(value, '}')
}

// answers is what answers a function of ours.
func (r *refs) answers(id string) (name string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, ok = r.ours[id]
	return name, ok
}

// unknownRef is the answer to an invoke of a function that is none of ours, or
// none any more.
func unknownRef(id string) *wire.Error {
	return kindError(wire.CodeServer, kindRef, "unknown function reference: "+id)
}

// release forgets the functions of ours that the params of a release_ref name.
func (r *refs) release(params json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ours, refID(first(params, dropWords)))
	for id := range elements(scan.Get(params, dropsWord)) {
		delete(r.ours, refID(id))
	}
}

// hold notes the functions of theirs in a value that came.
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
		if r.bytes+more > theirsBytes || !known && len(r.theirs) >= theirsMost {
			return
		}
		r.bytes += more
		r.theirs[strings.Clone(id)] = bytes.Clone(fn)
	})
}

// described is what a function of theirs says of itself, nil for nothing.
func (r *refs) described(id string) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.theirs[id]
}

// held are the functions of theirs that we still have, which are forgotten with
// it.
func (r *refs) held() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := slices.Sorted(maps.Keys(r.theirs))
	r.theirs, r.bytes = nil, 0
	return ids
}
