package scan

// A Cursor goes through an object's members or an array's elements and checks
// each as it passes it. It allocates nothing. When Next or NextKey says no, Err
// tells the end of a valid value from broken bytes.
//
//	c := scan.ReadObject(b, depth)
//	for key, val, ok := c.Next(); ok; key, val, ok = c.Next() {
//		…
//	}
//	if c.Err() != nil …
//
// Bytes that were checked before are easier read with Members and Elements.
type Cursor struct {
	b      []byte
	i      int
	depth  int // allowed inside an element
	close  byte
	first  bool
	within bool // bytes may follow the object or array
	bad    fault
}

// ReadObject returns a cursor for the object that b holds, with blanks around it
// or none. depth is the greatest nesting allowed, the object itself included.
func ReadObject(b []byte, depth int) Cursor {
	return open(b, Skip(b, 0), depth, '{', '}', noObject)
}

// ReadArray is ReadObject for the elements of an array; their keys are nil.
func ReadArray(b []byte, depth int) Cursor {
	return open(b, Skip(b, 0), depth, '[', ']', noArray)
}

// ReadObjectAt returns a cursor for the object that starts at b[i]; what follows
// its end is not looked at. Pos is behind that end when the cursor is through.
func ReadObjectAt(b []byte, i, depth int) Cursor {
	c := open(b, i, depth, '{', '}', noObject)
	c.within = true
	return c
}

// ReadArrayAt is ReadObjectAt for an array.
func ReadArrayAt(b []byte, i, depth int) Cursor {
	c := open(b, i, depth, '[', ']', noArray)
	c.within = true
	return c
}

func open(b []byte, i, depth int, start, end byte, other fault) Cursor {
	c := Cursor{b: b, i: i, depth: depth - 1, close: end, first: true}
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

// Next returns the next member: its key as it stands between its quotes, with
// escapes as they are, and its value. ok is false after the last one and when
// the bytes are broken. Both are sub-slices of what was given.
func (c *Cursor) Next() (key, val []byte, ok bool) {
	if key, ok = c.NextKey(); !ok {
		return nil, nil, false
	}
	start := c.i
	end, bad := value(c.b, start, c.depth)
	if bad != none {
		c.fail(end, bad)
		return nil, nil, false
	}
	c.i = end
	return key, c.b[start:end], true
}

// NextKey goes to the next member and stops before its value, which Value, Skip
// or SkipTo must pass before the next one is asked for.
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
	case c.close == '}':
		return nil, c.fail(i, noCommaObject)
	default:
		return nil, c.fail(i, noCommaArray)
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

// Value checks, passes and returns the value that NextKey stopped at; nil where
// it is broken, which Err says.
func (c *Cursor) Value() []byte {
	start := c.i
	end, bad := value(c.b, start, c.depth)
	if c.i = end; bad != none {
		c.bad = bad
		return nil
	}
	return c.b[start:end]
}

// Object returns a cursor for the object that NextKey stopped at; ok is false
// where its value is none. When it is through, Skip goes on behind it.
func (c *Cursor) Object() (in Cursor, ok bool) {
	if c.i >= len(c.b) || c.b[c.i] != '{' {
		return Cursor{}, false
	}
	return ReadObjectAt(c.b, c.i, c.depth), true
}

// Array is Object for an array.
func (c *Cursor) Array() (in Cursor, ok bool) {
	if c.i >= len(c.b) || c.b[c.i] != '[' {
		return Cursor{}, false
	}
	return ReadArrayAt(c.b, c.i, c.depth), true
}

// Peek returns the first byte of the value that NextKey stopped at; 0 where there is
// none.
func (c *Cursor) Peek() byte {
	if c.i >= len(c.b) {
		return 0
	}
	return c.b[c.i]
}

// SkipTo passes the value that NextKey stopped at, which was found to be valid and
// to end at b[end].
func (c *Cursor) SkipTo(end int) { c.i = end }

// Skip passes the value that NextKey stopped at, which in has read, and returns
// it. Where in found it broken, c is broken as well.
func (c *Cursor) Skip(in *Cursor) []byte {
	start := c.i
	c.i, c.bad = in.i, in.bad
	return c.b[start:c.i]
}

// Pos returns the place in the bytes that the cursor has come to.
func (c *Cursor) Pos() int { return c.i }

// end notes the end of the value. It returns false, as fail does, since there is
// no next member.
func (c *Cursor) end(i int) bool {
	c.close, c.i = 0, i
	if c.within {
		return false
	}
	if c.i = Skip(c.b, i); c.i < len(c.b) {
		c.bad = trailing
	}
	return false
}

func (c *Cursor) fail(i int, bad fault) bool {
	c.i, c.bad = i, bad
	return false
}

// Err returns what is wrong, as an *Error; nil if nothing is.
func (c *Cursor) Err() error { return c.bad.at(c.i) }
