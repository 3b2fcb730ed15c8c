package scomp

import (
	"bytes"

	"rpcx/wire/scan"
)

// mayHoldFunction is a quick look: most values hold none.
func mayHoldFunction(val []byte) bool {
	for _, word := range append([]string{fnTypeRef}, fnWords...) {
		if bytes.Contains(val, []byte(`"`+word+`"`)) {
			return true
		}
	}
	return false
}

// An opened is an object or array that is not at its end yet.
type opened struct {
	start int
	id    string // of the function value that it is; "": of none so far
	ref   string // that, should typed come to be true
	typed bool   // it says that it is a function
	inner int    // how many function values were found before it
}

// A found is a function value and its id.
type found struct {
	id         string
	start, end int
}

// eachFunction calls each with every function value in val, which is valid, but
// for those inside of others. It goes through val once, however deep that is.
func eachFunction(val []byte, each func(id string, fn []byte)) {
	var open []opened
	var all []found
	for i := 0; i < len(val); i++ {
		switch val[i] {
		case '{', '[':
			open = append(open, opened{start: i, inner: len(all)})
		case '}', ']':
			o := open[len(open)-1]
			open = open[:len(open)-1]
			if o.typed && o.id == "" {
				o.id = o.ref
			}
			if o.id != "" {
				all = append(all[:o.inner], found{o.id, o.start, i + 1})
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

// note takes a member of the object: its key, and where in val its value is.
func (o *opened) note(key, val []byte, at int) {
	scalar := func() string {
		end, err := scan.Value(val, at, 0)
		if err != nil {
			return "" // it is none
		}
		return refID(val[at:end])
	}
	for _, word := range fnWords {
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

// functionID is the id of a function value, "" where obj is none.
func functionID(obj []byte) string {
	if id := refID(first(obj, fnWords)); id != "" {
		return id
	}
	if text(scan.Get(obj, fnTypeWord)) == fnType {
		return refID(scan.Get(obj, fnTypeRef))
	}
	return ""
}

// refID is an id as text: a string, or a number as it stands.
func refID(val []byte) string {
	if scan.Type(val) == 'n' {
		return string(val)
	}
	return text(val)
}
