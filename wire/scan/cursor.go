package scan

// A Cursor iterates over an object's members or an array's elements and checks each one. It allocates nothing. After Next
// or NextKey has returned false, Err distinguishes the end of a valid value from invalid bytes.
//
//	c := scan.ReadObject(b, depth)
//	for key, val, ok := c.Next(); ok; key, val, ok = c.Next() {
//		…
//	}
//	if c.Err() != nil …
//
// For checked bytes, Members and Elements are simpler.
type Cursor struct {
	b      []byte
	i      int
	depth  int // the allowed nesting inside the value that the cursor reads
	close  byte
	first  bool
	within bool // other bytes may follow the object or array
	bad    fault
}

// ReadObject returns a cursor for the members of the object in b, which may have surrounding blanks. depth is the
// maximum nesting, including the object itself.
func ReadObject(b []byte, depth int) Cursor {
	return open(b, Skip(b, 0), depth, '{', '}', noObject, false)
}

// ReadArray is like ReadObject, but for the elements of an array. Their keys are nil.
func ReadArray(b []byte, depth int) Cursor {
	return open(b, Skip(b, 0), depth, '[', ']', noArray, false)
}

// ReadObjectAt is like ReadObject, but for the object that starts at b[i]. It reads no bytes after the object. After
// the last member, Pos returns where the object ends.
func ReadObjectAt(b []byte, i, depth int) Cursor {
	return open(b, i, depth, '{', '}', noObject, true)
}

// ReadArrayAt is like ReadObjectAt, but for an array.
func ReadArrayAt(b []byte, i, depth int) Cursor {
	return open(b, i, depth, '[', ']', noArray, true)
}

func open(b []byte, i, depth int, start, end byte, other fault, within bool) Cursor {
	c := Cursor{b: b, i: i, depth: depth - 1, close: end, first: true, within: within}
	switch {
	case c.i >= len(b):
		c.bad = cut
	case b[c.i] != start:
		c.bad = other
	case depth <= 0:
		c.bad = deep
	default:
		c.i++
	}
	return c
}

// Next returns the next member: its key, without quotes but with escapes, and its value. Both are sub-slices of the
// input. ok is false after the last member or if the bytes are invalid.
func (c *Cursor) Next() (key, val []byte, ok bool) {
	if key, ok = c.NextKey(); ok {
		val = c.Value()
		ok = c.bad == none
	}
	return key, val, ok
}

// NextKey moves to the next member and stops before the value. The caller must then call Value, Skip or SkipTo.
func (c *Cursor) NextKey() (key []byte, ok bool) {
	if c.bad != none || c.close == 0 {
		return nil, false
	}
	b := c.b
	i := Skip(b, c.i)
	switch {
	case i >= len(b):
		return nil, c.fail(i, cut)
	case b[i] == c.close:
		return nil, c.end(i + 1)
	case c.first:
		c.first = false
	case b[i] == ',':
		i = Skip(b, i+1)
	default:
		return nil, c.fail(i, noComma(c.close))
	}
	if c.close == '}' {
		end, next, bad := keyAndColon(b, i)
		if bad != none {
			return nil, c.fail(next, bad)
		}
		key, i = b[i+1:end-1], next
	}
	c.i = i
	return key, true
}

// Value checks and returns the value after NextKey. It returns nil if the value is invalid (see Err).
func (c *Cursor) Value() []byte {
	start := c.i
	end, bad := value(c.b, start, c.depth)
	if c.i = end; bad != none {
		c.bad = bad
		return nil
	}
	return c.b[start:end]
}

// Object returns a cursor for the value after NextKey if it is an object. Otherwise ok is false. After the last member,
// the caller must pass the cursor to Skip.
func (c *Cursor) Object() (in Cursor, ok bool) {
	if c.i >= len(c.b) || c.b[c.i] != '{' {
		return Cursor{}, false
	}
	return ReadObjectAt(c.b, c.i, c.depth), true
}

// SkipTo moves to end, the end of the value after NextKey, which the caller has checked.
func (c *Cursor) SkipTo(end int) { c.i = end }

// Skip moves to the end of the value after NextKey, which in has read, and returns the value. If in has found invalid
// bytes, c becomes invalid.
func (c *Cursor) Skip(in *Cursor) []byte {
	start := c.i
	c.i, c.bad = in.i, in.bad
	return c.b[start:c.i]
}

// Pos returns the cursor's offset.
func (c *Cursor) Pos() int { return c.i }

// end records the end of the object or array, and returns false.
func (c *Cursor) end(i int) bool {
	c.close, c.i = 0, i
	if !c.within {
		if c.i = Skip(c.b, i); c.i < len(c.b) {
			c.bad = trailing
		}
	}
	return false
}

func (c *Cursor) fail(i int, bad fault) bool {
	c.i, c.bad = i, bad
	return false
}

// Err returns an *Error, or nil if all bytes read so far are valid.
func (c *Cursor) Err() error { return c.bad.at(c.i) }
