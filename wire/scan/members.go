package scan

// Members goes through an object's members or an array's elements, each of
// which is checked as it is passed. It allocates nothing. When Next says no,
// Err says whether that was the end of a valid value.
//
//	m := scan.Object(b, depth)
//	for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
//		…
//	}
//	if m.Err() != nil …
type Members struct {
	b     []byte
	i     int
	depth int // allowed inside an element
	close byte
	first bool
	bad   fault
}

// Object goes through the members of the object that b holds, with blanks
// around it or none. depth is the greatest nesting allowed, the object itself
// included.
func Object(b []byte, depth int) Members { return open(b, depth, '{', '}', noObject) }

// Array is Object for the elements of an array; their keys are nil.
func Array(b []byte, depth int) Members { return open(b, depth, '[', ']', noArray) }

func open(b []byte, depth int, start, end byte, other fault) Members {
	m := Members{b: b, i: Skip(b, 0), depth: depth - 1, close: end, first: true}
	switch {
	case m.i >= len(b):
		m.bad = cut
	case b[m.i] != start:
		m.bad = other
	case depth <= 0:
		m.bad = deep
	default:
		m.i++
	}
	return m
}

// Next returns the next member: its key as it stands between its quotes, with
// escapes as they are, and its value. ok is false after the last one and when
// the bytes are broken. Both are sub-slices of what was given.
func (m *Members) Next() (key, val []byte, ok bool) {
	if m.bad != none || m.close == 0 {
		return nil, nil, false
	}
	b := m.b
	i := Skip(b, m.i)
	switch {
	case i >= len(b):
		return m.fail(i, cut)
	case b[i] == m.close:
		return m.end(i + 1)
	case m.first:
		m.first = false
	case b[i] == ',':
		i = Skip(b, i+1)
	case m.close == '}':
		return m.fail(i, noCommaObject)
	default:
		return m.fail(i, noCommaArray)
	}
	var bad fault
	if m.close == '}' {
		start, end := i+1, 0
		if end, i, bad = keyAndColon(b, i); bad != none {
			return m.fail(i, bad)
		}
		key = b[start : end-1]
	}
	start := i
	if i, bad = value(b, i, m.depth); bad != none {
		return m.fail(i, bad)
	}
	m.i = i
	return key, b[start:i], true
}

func (m *Members) end(i int) (key, val []byte, ok bool) {
	m.close = 0
	m.i = Skip(m.b, i)
	if m.i < len(m.b) {
		m.bad = trailing
	}
	return nil, nil, false
}

func (m *Members) fail(i int, bad fault) (key, val []byte, ok bool) {
	m.i, m.bad = i, bad
	return nil, nil, false
}

// Err says what is wrong, an *Error; nil as long as nothing is.
func (m *Members) Err() error { return m.bad.at(m.i) }
