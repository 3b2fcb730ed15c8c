package match

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
)

// A Difference is a place where a message differs from the recorded one.
type Difference struct {
	Pointer string          // a JSON pointer; "" is the whole message
	Want    json.RawMessage // the recorded value; nil: none
	Got     json.RawMessage // the value that came; nil: none
}

// Compare returns the differences between want, a recorded message, and got:
// first in the order of want's members, then the members that only got has.
// method is the message's, or that of the request that it answers. A redacted
// value equals any other. values may be nil.
func (r *Rules) Compare(method string, want, got []byte, values *Values) []Difference {
	if bytes.Equal(want, got) {
		return nil
	}
	c := comparison{rules: r, method: method, values: values}
	c.compare(want, got)
	if len(c.found) == 0 || len(r.ignore) == 0 {
		return c.found
	}
	skipWant, skipGot := r.ignored(want), r.ignored(got)
	return slices.DeleteFunc(c.found, func(d Difference) bool {
		return covered(skipWant, d.Pointer) || covered(skipGot, d.Pointer)
	})
}

// covered reports whether set has pointer, or the pointer of a value around it.
func covered(set map[string]bool, pointer string) bool {
	for {
		if set[pointer] {
			return true
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return false
		}
		pointer = pointer[:i]
	}
}

// A comparison is the state of comparing two messages.
type comparison struct {
	rules  *Rules
	method string
	values *Values
	path   []string
	found  []Difference
}

var redacted = scan.AppendQuoted(nil, tape.Redacted)

func (c *comparison) compare(want, got []byte) {
	want, got = scan.Trim(want), scan.Trim(got)
	if bytes.Equal(want, got) || bytes.Equal(want, redacted) || bytes.Equal(got, redacted) {
		return
	}
	switch kind := scan.Type(want); {
	case kind != scan.Type(got):
	case kind == 'o':
		c.objects(want, got)
		return
	case kind == 'a':
		c.arrays(want, got)
		return
	case scan.Equal(want, got), c.carried(want, got):
		return
	}
	c.differ(want, got)
}

// carried reports whether got is the live value of want in this conversation.
func (c *comparison) carried(want, got []byte) bool {
	live, ok := c.values.live(want)
	return ok && scan.Equal([]byte(live), got)
}

// differ adds a difference at the current place, unless differences there do
// not count.
func (c *comparison) differ(want, got []byte) {
	if want != nil && got != nil {
		if at(c.rules.madeUp, c.method, c.path) || c.values.opens(c.path, want) {
			return
		}
		if n := len(c.path); n > 0 && varying(c.path[n-1], want, got) {
			return
		}
	}
	if at(c.rules.varies, c.method, c.path) {
		return
	}
	c.found = append(c.found, Difference{pointer(c.path), want, got})
}

func pointer(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteString("/" + scan.Escape(step))
	}
	return b.String()
}

func (c *comparison) inside(step string, want, got []byte) {
	c.path = append(c.path, step)
	if want == nil || got == nil {
		c.differ(want, got)
	} else {
		c.compare(want, got)
	}
	c.path = c.path[:len(c.path)-1]
}

func (c *comparison) objects(want, got []byte) {
	there := members(got)
	m := scan.ReadObject(want, wire.DefaultMaxDepth+1)
	seen := map[string]bool{}
	for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
		name := scan.Key(key)
		if !seen[name] {
			seen[name] = true
			c.inside(name, last(want, name, val), there[name])
		}
	}
	m = scan.ReadObject(got, wire.DefaultMaxDepth+1)
	for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
		if name := scan.Key(key); !seen[name] {
			seen[name] = true
			c.inside(name, nil, val)
		}
	}
}

// last returns the last value of a member that an object has several times,
// since decoders take that one. first is its first value.
func last(obj []byte, name string, first []byte) []byte {
	if bytes.Count(obj, []byte(`"`+name+`"`)) < 2 {
		return first
	}
	return members(obj)[name]
}

func members(obj []byte) map[string][]byte {
	all := map[string][]byte{}
	m := scan.ReadObject(obj, wire.DefaultMaxDepth+1)
	for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
		all[scan.Key(key)] = val
	}
	return all
}

func (c *comparison) arrays(want, got []byte) {
	x, y := scan.ReadArray(want, wire.DefaultMaxDepth+1), scan.ReadArray(got, wire.DefaultMaxDepth+1)
	for i := 0; ; i++ {
		_, v, ok := x.Next()
		_, w, also := y.Next()
		switch {
		case !ok && !also:
			return
		case !ok:
			v = nil
		case !also:
			w = nil
		}
		c.inside(strconv.Itoa(i), v, w)
	}
}
