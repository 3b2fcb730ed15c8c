package scan

// A Decoder checks one JSON value that arrives in pieces, and finds its end. It reads each byte at most twice, and does
// not recurse. A Decoder with only a Depth is ready for use.
type Decoder struct {
	Depth int // the maximum nesting of arrays and objects

	open  []byte // the closing brackets of the arrays and objects that are open
	want  want   // the next token
	first bool   // the next token may also be a closing bracket, because the array or object has just begun
	i     int    // the offset of the next token
	read  int    // the offset in the next token up to which it has been read
}

// A want is the kind of token that must follow.
type want uint8

const (
	wantValue want = iota
	wantKey
	wantColon
	wantSeparator // a comma or the closing bracket
	complete
)

// Reset prepares d for a new value.
func (d *Decoder) Reset() {
	*d = Decoder{Depth: d.Depth, open: d.open[:0]}
}

// Next reads b, which contains all bytes since Reset. It returns the end of the value if done is true. Otherwise it needs
// more bytes, because the value is incomplete or is a number that may continue. An error is an *Error.
func (d *Decoder) Next(b []byte) (end int, done bool, err error) {
	for d.want != complete {
		if d.i = Skip(b, d.i); d.i >= len(b) {
			return 0, false, nil
		}
		switch end, bad := d.token(b); bad {
		case none:
			d.i = end
		case cut:
			return 0, false, nil
		default:
			return 0, false, bad.at(end)
		}
	}
	return d.i, true, nil
}

// token reads the next token and returns its end.
func (d *Decoder) token(b []byte) (end int, bad fault) {
	c, first := b[d.i], d.first
	d.first = false
	switch {
	case d.want == wantColon && c != ':':
		return d.i, noColon
	case d.want == wantColon:
		d.want = wantValue
	case (first || d.want == wantSeparator) && c == d.open[len(d.open)-1]:
		d.open = d.open[:len(d.open)-1]
		d.ended()
	case d.want == wantSeparator:
		return d.separator(c)
	case d.want == wantKey && c != '"':
		return d.i, noKey
	case c != '{' && c != '[':
		return d.scalar(b)
	case len(d.open) >= d.Depth:
		return d.i, deep
	case c == '{':
		d.open, d.want, d.first = append(d.open, '}'), wantKey, true
	default:
		d.open, d.want, d.first = append(d.open, ']'), wantValue, true
	}
	return d.i + 1, none
}

// separator reads c, the byte after a member or an element.
func (d *Decoder) separator(c byte) (int, fault) {
	end := d.open[len(d.open)-1]
	if c != ',' {
		return d.i, noComma(end)
	}
	d.want = wantValue
	if end == '}' {
		d.want = wantKey
	}
	return d.i + 1, none
}

// scalar reads a key or a value that is neither an array nor an object. If b ends before it does, the next call continues
// at read.
func (d *Decoder) scalar(b []byte) (end int, bad fault) {
	switch Type(b[d.i:]) {
	case 's':
		end, bad = stringRest(b, max(d.i+1, d.read))
		d.read = end
	case 'n': // the number ends before the first byte that cannot be part of it
		for d.read = max(d.i, d.read); d.read < len(b) && inNumber(b[d.read]); {
			d.read++
		}
		if d.read == len(b) {
			return d.read, cut
		}
		end, bad = number(b, d.i)
	default:
		end, bad = value(b, d.i, 0)
	}
	switch {
	case bad != none:
	case d.want == wantKey:
		d.want = wantColon
	default:
		d.ended()
	}
	return end, bad
}

// ended records that a value is complete.
func (d *Decoder) ended() {
	d.want = wantSeparator
	if len(d.open) == 0 {
		d.want = complete
	}
}

// inNumber reports whether c can be part of a number.
func inNumber(c byte) bool { return c-'0' <= 9 || c == '+' || c == '-' || c == '.' || c|0x20 == 'e' }
