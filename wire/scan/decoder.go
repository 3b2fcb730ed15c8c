package scan

// A Decoder checks one JSON value that arrives in pieces, and finds its end. It reads each byte once. A Decoder with
// only a Depth is ready for use.
type Decoder struct {
	Depth int // the maximum nesting of arrays and objects

	open  []byte // the brackets that are open, '{' or '['
	state state
	key   bool   // the current string is a key
	word  string // the missing characters of a literal
	hex   int    // the number of missing digits in an escape
	off   int    // the number of bytes that Next has consumed
}

type state uint8

const (
	wantValue state = iota // 0 outside of numbers
	wantElement
	wantFirstElement
	wantFirstKey
	wantKey
	wantColon
	afterElement
	inString
	inEscape
	inHex
	inLiteral
	afterMinus
	afterZero
	inInteger
	afterPoint
	inFraction
	afterE
	afterESign
	inExponent
	complete
)

// Reset prepares d for a new value.
func (d *Decoder) Reset() {
	*d = Decoder{Depth: d.Depth, open: d.open[:0]}
}

// Next reads more bytes of the value. n is the number of bytes that belong to the value or to blanks before it. done
// reports that the value is complete. A number ends before the first byte that is not part of it. An error is an *Error
// whose offset counts from the first byte after Reset. b[n] is then the invalid byte.
func (d *Decoder) Next(b []byte) (n int, done bool, err error) {
	for n < len(b) {
		if d.state == inString {
			if n = plain(b, n); n == len(b) {
				break
			}
		}
		consumed, bad := d.step(b[n])
		if bad != none {
			err = bad.at(d.off + n)
			d.off += n
			return n, false, err
		}
		if consumed {
			n++
		}
		if d.state == complete {
			d.off += n
			return n, true, nil
		}
	}
	d.off += n
	return n, false, nil
}

// End reports whether the value is complete if no bytes follow. A number at the top level, for example, is.
func (d *Decoder) End() bool {
	switch d.state {
	case complete:
		return true
	case afterZero, inInteger, inFraction, inExponent:
		return len(d.open) == 0
	}
	return false
}

// step reads one byte. consumed is false if c follows a number and must be read again.
func (d *Decoder) step(c byte) (consumed bool, bad fault) {
	switch d.state {
	case wantValue, wantElement, wantFirstElement, wantFirstKey, wantKey, wantColon, afterElement:
		if class[c]&isBlank != 0 {
			return true, none
		}
		return true, d.between(c)
	case inString, inEscape, inHex:
		return true, d.inside(c)
	case inLiteral:
		if c != d.word[0] {
			return true, badLiteral
		}
		if d.word = d.word[1:]; d.word == "" {
			d.ended()
		}
		return true, none
	case complete:
		return false, none
	}
	return d.number(c)
}

// between processes a byte outside of tokens.
func (d *Decoder) between(c byte) fault {
	switch d.state {
	case wantFirstElement:
		if c == ']' {
			d.closed()
			return none
		}
		return d.start(c)
	case wantFirstKey, wantKey:
		switch {
		case c == '"':
			d.state, d.key = inString, true
		case c == '}' && d.state == wantFirstKey:
			d.closed()
		default:
			return noKey
		}
		return none
	case wantColon:
		if c != ':' {
			return noColon
		}
		d.state = wantValue
		return none
	case afterElement:
		return d.separator(c)
	}
	return d.start(c)
}

func (d *Decoder) separator(c byte) fault {
	if d.open[len(d.open)-1] == '{' {
		switch c {
		case ',':
			d.state = wantKey
		case '}':
			d.closed()
		default:
			return noCommaObject
		}
		return none
	}
	switch c {
	case ',':
		d.state = wantElement
	case ']':
		d.closed()
	default:
		return noCommaArray
	}
	return none
}

// start processes the first byte of a value.
func (d *Decoder) start(c byte) fault {
	switch c {
	case '{', '[':
		if len(d.open) >= d.Depth {
			return deep
		}
		d.open = append(d.open, c)
		d.state = wantFirstKey
		if c == '[' {
			d.state = wantFirstElement
		}
	case '"':
		d.state, d.key = inString, false
	case 't':
		d.state, d.word = inLiteral, "rue"
	case 'f':
		d.state, d.word = inLiteral, "alse"
	case 'n':
		d.state, d.word = inLiteral, "ull"
	case '-':
		d.state = afterMinus
	case '0':
		d.state = afterZero
	default:
		if class[c]&isDigit == 0 {
			return noValue
		}
		d.state = inInteger
	}
	return none
}

func (d *Decoder) closed() {
	d.open = d.open[:len(d.open)-1]
	d.ended()
}

func (d *Decoder) ended() {
	d.state = afterElement
	if len(d.open) == 0 {
		d.state = complete
	}
}

// inside processes a byte in a string.
func (d *Decoder) inside(c byte) fault {
	switch {
	case d.state == inEscape && c == 'u':
		d.state, d.hex = inHex, 4
	case d.state == inEscape:
		switch c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			d.state = inString
		default:
			return badEscape
		}
	case d.state == inHex:
		if class[c]&isHex == 0 {
			return badEscape
		}
		if d.hex--; d.hex == 0 {
			d.state = inString
		}
	case c == '\\':
		d.state = inEscape
	case c < ' ':
		return badControl
	case c != '"':
	case d.key:
		d.state = wantColon
	default:
		d.ended()
	}
	return none
}

// numbers contains, for each state inside a number, the next state for each class of bytes, or 0 if there is none.
var numbers = [...]struct {
	zero, digit, point, e, sign state
	open                        bool // the number must not end here
}{
	afterMinus: {zero: afterZero, digit: inInteger, open: true},
	afterZero:  {point: afterPoint, e: afterE},
	inInteger:  {zero: inInteger, digit: inInteger, point: afterPoint, e: afterE},
	afterPoint: {zero: inFraction, digit: inFraction, open: true},
	inFraction: {zero: inFraction, digit: inFraction, e: afterE},
	afterE:     {zero: inExponent, digit: inExponent, sign: afterESign, open: true},
	afterESign: {zero: inExponent, digit: inExponent, open: true},
	inExponent: {zero: inExponent, digit: inExponent},
}

// number processes a byte that belongs to a number or follows it.
func (d *Decoder) number(c byte) (consumed bool, bad fault) {
	step, next := &numbers[d.state], wantValue
	switch c {
	case '0':
		next = step.zero
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		next = step.digit
	case '.':
		next = step.point
	case 'e', 'E':
		next = step.e
	case '+', '-':
		next = step.sign
	}
	switch {
	case next != wantValue:
		d.state = next
		return true, none
	case step.open:
		return true, badNumber
	}
	d.ended()
	return false, none
}
