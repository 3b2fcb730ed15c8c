package scomp

import (
	"bytes"
	"slices"

	"rpcx/wire/scan"
)

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
