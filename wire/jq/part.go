package jq

import (
	"slices"

	"rpcx/wire/scan"
)

// fits reports whether the type of raw allows the first step of every path in n.
func (n need) fits(raw []byte) bool {
	kind := scan.Type(raw)
	return (kind == 'o' || kind == 'a') && !slices.ContainsFunc(n, func(p []step) bool { return (p[0].key != nil) != (kind == 'o') || p[0].index < 0 })
}

// decodePart decodes the parts of raw that n contains, or all of raw if its type does not fit n. passes is true if an
// output may be the decoded value, which must then be printed like raw.
func (s *source) decodePart(raw []byte, n need, passes bool) (any, error) {
	if n == nil || len(raw) < partFrom || !n.fits(raw) {
		d := decoder{b: raw, src: s, all: string(raw)}
		return d.read()
	}
	if err := scan.Valid(raw, maxDepth); err != nil {
		return nil, err
	}
	d := decoder{b: raw, src: s}
	d.blanks()
	start := d.i
	v := d.part(n)
	if m, ok := v.(map[string]any); ok && passes {
		m[unread] = nil // so m is not empty, and its text is stored
	}
	if passes {
		s.add(v, d.b[start:d.i])
	}
	if d.huge {
		return nil, errHuge
	}
	return v, nil
}

// partFrom is the minimum length, in bytes, of an input for which it is worthwhile to skip parts.
const partFrom = 64

// unread is a key that no program can name, because it is not UTF-8.
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
		start := d.i + 1
		d.pass()
		key := d.b[start : d.i-1]
		if odd(key) {
			key = []byte(unescape(key))
		}
		d.blanks()
		d.i++ // skips the colon
		if slices.ContainsFunc(n, func(p []step) bool { return p[0].key != nil && string(p[0].key) == string(key) }) {
			m[string(key)] = d.partOf(n, key, -1)
		} else {
			d.pass()
		}
	}
	return m
}

// pass skips a key or a value, which must be valid JSON.
func (d *decoder) pass() {
	if end, err := scan.Value(d.b, scan.Skip(d.b, d.i), maxDepth); err == nil {
		d.i = end
	}
}

// partOf decodes the parts of the next value that n contains. The value is the member key or, if key is nil, the
// element at index.
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

// maxCopied is the maximum size, in bytes, of an input that is copied as a whole for the strings in a part of it.
const maxCopied = 16 << 10

// whole is like value, but makes a single copy of a short input for all strings in an object or array.
func (d *decoder) whole() any {
	d.blanks()
	if c := d.b[d.i]; d.all == "" && len(d.b) <= maxCopied && (c == '{' || c == '[') {
		d.all = string(d.b)
	}
	return d.value()
}
