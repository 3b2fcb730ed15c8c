package scan

// Shapes checks messages as Keys does, one after the other. Those of a conversation are
// much alike: most have the members of an earlier one, in the same order and with the same
// blanks, and differ in their strings, numbers, booleans and nulls alone. Only these are
// then looked at. The zero value is usable; it is not safe for concurrent use.
type Shapes struct {
	all    [shapesMost]shape // the one that was met last comes first
	missed int               // messages that had none of these shapes, since the last that had
}

// A shape is a message without its strings, numbers, booleans and nulls: what stands
// before the first of them, between them, and behind the last.
type shape struct {
	text []byte
	ends []int // of the parts, in text; none: no message had this shape yet
}

const (
	shapesMost = 4
	partsMost  = 512      // a message with more parts has no shape
	longMost   = 32 << 10 // nor has a longer one
	patience   = 16       // after so many messages without a known shape few are looked at for one
	seldom     = 8        // of so many one
)

// Valid reports whether b is exactly one JSON value, nested no deeper than depth, which
// has to be the same in all calls. It shows the names of members, as they stand between
// their quotes, to see, unless it has shown those of a message of the same shape. see
// returns whether it may be so: if it does not for one name of a message, it is shown all
// names of the next one like it, too.
func (s *Shapes) Valid(b []byte, depth int, see func(name []byte) bool) bool {
	if s.missed > patience && s.missed%seldom != 0 || len(b) > longMost {
		s.missed++
		return Keys(b, depth, func(name []byte) { see(name) }) == nil
	}
	for n := range s.all {
		if s.all[n].fits(b) {
			s.missed = 0
			for ; n > 0; n-- {
				s.all[n], s.all[n-1] = s.all[n-1], s.all[n]
			}
			return true
		}
	}
	s.missed++
	again := true
	if Keys(b, depth, func(name []byte) { again = see(name) && again }) != nil {
		return false
	}
	last := &s.all[shapesMost-1]
	if again {
		last.take(b)
	}
	return true
}

// fits reports whether b is a message of the shape.
func (s *shape) fits(b []byte) bool {
	from, i := 0, 0
	for n, end := range s.ends {
		if n > 0 {
			var bad fault
			if i < len(b) && b[i] == '"' {
				i, bad = str(b, i)
			} else {
				i, bad = value(b, i, 0)
			}
			if bad != none {
				return false
			}
		}
		part := s.text[from:end]
		if len(b)-i < len(part) || string(b[i:i+len(part)]) != string(part) {
			return false
		}
		from, i = end, i+len(part)
	}
	return len(s.ends) > 0 && i == len(b)
}

// take makes s the shape of b, which is JSON.
func (s *shape) take(b []byte) {
	s.text, s.ends = s.text[:0], s.ends[:0]
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
		if s.text, s.ends = append(s.text, b[from:i]...), append(s.ends, len(s.text)+i-from); len(s.ends) > partsMost {
			s.ends = s.ends[:0]
			return
		}
		from, i = end, end
	}
	s.text = append(s.text, b[from:]...)
	s.ends = append(s.ends, len(s.text))
}
