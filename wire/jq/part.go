package jq

import (
	"slices"

	"rpcx/wire/scan"
)

// fits reports whether a value of raw's type allows the first step of every path of n.
func (n need) fits(raw []byte) bool {
	kind := scan.Type(raw)
	return (kind == 'o' || kind == 'a') && !slices.ContainsFunc(n, func(p []step) bool { return (p[0].key != nil) != (kind == 'o') || p[0].index < 0 })
}

// decodePart decodes the parts of raw in n, or all of raw if raw has another type. passes reports whether an output may
// be the decoded value, unchanged from raw.
func (s *source) decodePart(raw []byte, n need, passes bool) (any, error) {
	if n == nil || len(raw) < partFrom || !n.fits(raw) {
		return s.decode(raw)
	}
	if err := scan.Valid(raw, maxDepth); err != nil {
		return nil, err
	}
	d := decoder{b: raw, src: s}
	d.blanks()
	start := d.i
	v := d.part(n)
	if m, ok := v.(map[string]any); ok && passes {
		m[unread] = nil // an empty object has no substring in raw
	}
	if passes {
		s.add(v, d.b[start:d.i])
	}
	if d.huge {
		return nil, errHuge
	}
	return v, nil
}

// partFrom is the minimum length for which skipping parts is worthwhile.
const partFrom = 64

// unread is a member that no program can name, because it is not UTF-8.
const unread = "\xff"

func (d *decoder) part(n need) any {
	if d.b[d.i] == '[' {
		a := []any{}
		for d.more(']') {
			a = append(a, d.partOf(n, nil, len(a)))
		}
		return a
	}
	m := map[string]any{}
	for d.more('}') {
		d.blanks()
		start, end := d.key()
		key := d.b[start:end]
		if odd(key) {
			key = []byte(unescape(key))
		}
		d.blanks()
		d.i++ // skips the colon
		if n.has(key) {
			m[string(key)] = d.partOf(n, key, -1)
		} else {
			d.pass()
		}
	}
	return m
}

// key skips a key and returns its position.
func (d *decoder) key() (start, end int) {
	start = d.i + 1
	if i, err := scan.Value(d.b, d.i, 0); err == nil {
		d.i = i
	}
	return start, d.i - 1
}

// pass skips a value, which must be valid.
func (d *decoder) pass() {
	if end, err := scan.Value(d.b, scan.Skip(d.b, d.i), maxDepth); err == nil {
		d.i = end
	}
}

func (n need) has(key []byte) bool {
	return slices.ContainsFunc(n, func(p []step) bool { return p[0].key != nil && string(p[0].key) == string(key) })
}

// partOf decodes the next value, the member key or without a key the element at index, as far as n names it.
func (d *decoder) partOf(n need, key []byte, index int) any {
	wanted, inner := false, need{}
	for _, p := range n {
		if (p[0].key == nil) != (key == nil) || string(p[0].key) != string(key) || key == nil && p[0].index != index {
			continue
		}
		wanted = true
		if len(p) == 1 {
			return d.whole()
		}
		inner = append(inner, p[1:])
	}
	d.blanks()
	switch {
	case !wanted:
		d.pass()
		return nil
	case !inner.fits(d.b[d.i:]):
		return d.whole()
	}
	return d.part(inner)
}

// maxCopied bounds an input that is copied for the strings in a part of it.
const maxCopied = 16 << 10

// whole is like value, but with one copy of a short input for all strings in an object or array.
func (d *decoder) whole() any {
	d.blanks()
	if c := d.b[d.i]; d.all == "" && len(d.b) <= maxCopied && (c == '{' || c == '[') {
		d.all = string(d.b)
	}
	return d.value()
}
