package jsonrpc

import "rpcx/wire/scan"

// walker goes through an object or array in the middle of bytes, checking them
// as it goes, so that a message and the object in its params are read in one
// pass.
//
//	for w.next() { … w.value() … }
type walker struct {
	b     []byte
	i     int    // after next, the start of a value; after the last, the end
	depth int    // nesting allowed for values
	key   []byte // of an object's value, its escapes undone
	close byte
	first bool
	err   error
}

// object returns a walker for the object at b[i].
func object(b []byte, i, depth int) walker {
	w := walker{b: b, i: i + 1, depth: depth - 1, close: '}', first: true}
	if depth <= 0 {
		w.fail("nested too deep")
	}
	return w
}

// next goes to the next value; false at the end and when the bytes are broken.
func (w *walker) next() bool {
	if w.err != nil {
		return false
	}
	i := scan.Skip(w.b, w.i)
	if i < len(w.b) && w.b[i] == w.close {
		w.i = i + 1
		return false
	}
	if !w.first {
		if i >= len(w.b) || w.b[i] != ',' {
			w.i = i
			return w.fail("expected a comma or the end")
		}
		i = scan.Skip(w.b, i+1)
	}
	w.first = false
	w.i = i
	if w.close == '}' {
		return w.readKey()
	}
	return true
}

func (w *walker) readKey() bool {
	start := w.i
	if start >= len(w.b) || w.b[start] != '"' {
		return w.fail("expected a key in double quotes")
	}
	end := start + 1
	for end < len(w.b) && w.b[end] != '"' && w.b[end] != '\\' && w.b[end] >= ' ' {
		end++
	}
	if end < len(w.b) && w.b[end] == '"' {
		w.key = w.b[start+1 : end]
		end++
	} else { // escapes, or broken
		var err error
		if end, err = scan.Value(w.b, start, 0); err != nil {
			w.err = err
			return false
		}
		w.key = []byte(scan.Key(w.b[start+1 : end-1]))
	}
	if w.i = scan.Skip(w.b, end); w.i >= len(w.b) || w.b[w.i] != ':' {
		return w.fail("expected a colon after the key")
	}
	w.i = scan.Skip(w.b, w.i+1)
	return true
}

// value checks, passes and returns the value.
func (w *walker) value() []byte {
	start := w.i
	end, err := scan.Value(w.b, start, w.depth)
	if err != nil {
		w.err = err
		return nil
	}
	w.i = end
	return w.b[start:end]
}

func (w *walker) fail(what string) bool {
	w.err = &scan.Error{Offset: w.i, What: what, Cut: w.i >= len(w.b)}
	return false
}
