package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Shapes checks a sequence of messages as Keys does, but faster. Most messages in a conversation have the same members,
// order and blanks as an earlier message, and differ only in scalars. For such a message, Shapes checks only the scalars
// that differ. The zero value is usable. Shapes is not safe for concurrent use.
type Shapes struct {
	all    [maxShapes]shape // most recently used shape first
	missed int              // the number of messages since the last one with a known shape
}

// A shape is a message without its scalars: the parts before, between and after them.
type shape struct {
	text []byte
	ends []int // where each part ends in text; empty if the shape is unused

	last  []byte // the last message with the shape
	ascii bool   // last consists of ASCII without control characters
	at    []int  // where each part ends in last
	next  []int  // spare memory for at
}

const (
	maxShapes      = 4
	maxParts       = 512      // a message with more parts has no shape
	maxShapeLength = 32 << 10 // a longer message has no shape
	maxMissed      = 16       // after this many messages without a known shape, Shapes compares only a few messages
	sampleEvery    = 8        // then it compares one message in this many
)

// Valid reports whether b is exactly one JSON value with at most depth levels of nesting. depth must be equal in all calls.
// Valid passes the names of members, without quotes, to see, unless see has accepted the names of an earlier message of the
// same shape. It passes other strings, with quotes, to text, unless text has accepted the same string at the same place.
// word is true if the string is known to consist of lower-case letters and digits. If see or text returns false, Valid does
// not store the message. ascii is true if b is known to be ASCII without control characters.
func (s *Shapes) Valid(b []byte, depth int, see func(b []byte) bool, text func(b []byte, word bool) bool) (ok, ascii bool) {
	again := (s.missed <= maxMissed || s.missed%sampleEvery == 0) && len(b) <= maxShapeLength // b is compared, and stored for later messages
	for n := 0; again && n < len(s.all); n++ {
		if ok, ascii = s.all[n].fits(b, text); ok {
			s.missed = 0
			for ; n > 0; n-- {
				s.all[n], s.all[n-1] = s.all[n-1], s.all[n]
			}
			return true, ascii
		}
	}
	s.missed++
	if Keys(b, depth, func(name []byte) { again = see(name) && again }, func(quoted []byte) { again = text(quoted, false) && again }) != nil {
		return false, false
	}
	if again {
		s.all[maxShapes-1].take(b)
	}
	return true, false
}

// fits reports whether b has the shape and text accepts its strings, and whether b is known to be ASCII.
func (s *shape) fits(b []byte, text func(b []byte, word bool) bool) (ok, ascii bool) {
	if len(s.ends) == 0 {
		return false, false
	}
	if s.ascii && len(b) == len(s.last) && s.alike(b, text) {
		return true, true
	}
	i, began, same, other := 0, 0, true, false
	s.next = s.next[:0]
	for n := range s.ends {
		known := s.last[began:s.at[n]] // a value, and the part after it
		if began = s.at[n]; bytes.HasPrefix(b[i:], known) {
			i += len(known)
		} else {
			var beyond, fits bool
			if i, beyond, fits = s.valueAndPart(b, i, n, text); !fits {
				return false, false
			}
			same, other = false, other || beyond
		}
		s.next = append(s.next, i)
	}
	if i != len(b) {
		return false, false
	}
	ascii = !other && (s.ascii || IsASCII(b))
	if !same && (ascii || !s.ascii) {
		s.last, s.ascii = append(s.last[:0], b...), ascii
		s.at, s.next = s.next, s.at
	}
	return true, ascii
}

// valueAndPart reports whether b[i:] begins with a value and part n. It returns the end of the part, and whether the value
// is a string with characters other than ASCII.
func (s *shape) valueAndPart(b []byte, i, n int, text func(b []byte, word bool) bool) (end int, beyond, ok bool) {
	if n == 0 { // no value precedes the first part
		return i, false, false
	}
	var bad fault
	if start := i; i < len(b) && b[i] == '"' {
		var is content
		i, is, bad = asciiString(b, i)
		if beyond = is == other; bad == none && !text(b[start:i], is == word) {
			return i, beyond, false
		}
	} else {
		i, bad = value(b, i, 0)
	}
	part := s.text[s.ends[n-1]:s.ends[n]]
	if bad != none || len(b)-i < len(part) || string(b[i:i+len(part)]) != string(part) {
		return i, false, false
	}
	return i + len(part), beyond, true
}

// alike reports whether b has the shape, is ASCII, and has values of the same lengths as last. b must be as long as last,
// which must be ASCII. alike checks only the bytes that differ, and copies the values of b to last.
func (s *shape) alike(b []byte, text func(b []byte, word bool) bool) bool {
	if string(b) == string(s.last) {
		return true
	}
	for i, n := 0, 0; ; n++ {
		if i += common(b[i:], s.last[i:]); i == len(b) {
			return true
		}
		for s.at[n] <= i {
			n++
		}
		if n == 0 {
			return false
		}
		began := s.at[n-1]
		end, beyond, ok := s.valueAndPart(b, began, n, text)
		if beyond || !ok || end != s.at[n] {
			return false
		}
		copy(s.last[began:end], b[began:end])
		i = end
	}
}

// common returns the length of the common prefix of a and b.
func common(a, b []byte) int {
	n := 0
	for ; n+8 <= len(a) && n+8 <= len(b); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// take stores the shape of b, which is valid JSON.
func (s *shape) take(b []byte) {
	s.text, s.ends, s.at = s.text[:0], s.ends[:0], s.at[:0]
	from := 0
	for i := 0; i < len(b); {
		switch Type(b[i:]) {
		case 0, 'o', 'a':
			i++
			continue
		}
		end, _ := value(b, i, 0)
		if next := Skip(b, end); next < len(b) && b[next] == ':' {
			i = next
			continue
		}
		if s.part(b, from, i); len(s.ends) > maxParts {
			s.ends = s.ends[:0]
			return
		}
		from, i = end, end
	}
	s.part(b, from, len(b))
	s.last, s.ascii = append(s.last[:0], b...), IsASCII(b)
}

func (s *shape) part(b []byte, from, to int) {
	s.text = append(s.text, b[from:to]...)
	s.ends, s.at = append(s.ends, len(s.text)), append(s.at, to)
}
