package jq

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"rpcx/wire/scan"
)

// run applies p to in. The outputs are in s.outs, and parts of in or of s. It reports
// whether they are what gojq says; else gojq has to be asked.
func (p *plan) run(ctx context.Context, in []byte, s *Scratch) bool {
	if p == nil || ctx.Err() != nil || mayBeHuge(in) {
		return false
	}
	if cap(s.text) > maxScratch || cap(s.outs) > maxOuts {
		s.text, s.outs = nil, nil
	}
	s.room, s.text, s.outs, s.ask = s.room[:0], s.text[:0], s.outs[:0], false
	s.take(p.slots)
	if !p.input.read(in, s.slots) {
		return false
	}
	s.do(p.body, -1)
	return !s.ask
}

// take makes n empty slots, beside those that are in use.
func (s *Scratch) take(n int) {
	used := len(s.room)
	s.room = slices.Grow(s.room, n)[:used+n]
	s.slots = s.room[used:]
	clear(s.slots)
}

// each does p with each element of an array; gojq is asked about other values.
func (s *Scratch) each(p *plan, array []byte, to int) {
	if array[0] != '[' {
		s.ask = true
		return
	}
	around, used := s.slots, len(s.room)
	s.take(p.slots)
	elements := scan.ReadArray(array, maxDepth)
	for _, val, ok := elements.Next(); ok && !s.ask; _, val, ok = elements.Next() {
		clear(s.slots)
		p.input.read(val, s.slots)
		s.do(p.body, to)
	}
	s.slots, s.room = around, s.room[:used]
}

// mayBeHuge reports whether b may hold a number of more than maxDigits.
func mayBeHuge(b []byte) bool {
	for i := maxDigits; i < len(b); i += maxDigits {
		from, to := i, i
		for from > 0 && numeric(b[from-1]) {
			from--
		}
		for to < len(b) && numeric(b[to]) {
			to++
		}
		if to-from > maxDigits {
			return true
		}
	}
	return false
}

// do gives the outputs of p: to the array that begins at array in s.text; -1: to s.outs.
func (s *Scratch) do(p *part, array int) {
	if s.ask {
		return
	}
	switch p.kind {
	case give:
		if array < 0 {
			s.outs = append(s.outs, s.output(s.value(p.value)))
			return
		}
		if len(s.text) > array+1 {
			s.text = append(s.text, ',')
		}
		s.print(p.value)
	case check:
		s.holds(p.value)
		s.do(p.then, array)
	case branch:
		if s.holds(p.value) {
			s.do(p.then, array)
		} else {
			s.do(p.other, array)
		}
	case each:
		s.each(p.inner, s.value(p.value), array)
	case both:
		s.do(p.then, array)
		s.do(p.other, array)
	}
}

// holds reports whether n is neither null nor false.
func (s *Scratch) holds(n *node) bool {
	start := len(s.text)
	is := truth(s.value(n))
	s.text = s.text[:start]
	return is
}

// truth reports whether val is neither null nor false.
func truth(val []byte) bool { return val[0] != 'n' && val[0] != 'f' }

// asks notes that gojq has to be asked.
func (s *Scratch) asks() []byte {
	s.ask = true
	return null
}

var yes, no = []byte("true"), []byte("false")

func boolean(b bool) []byte {
	if b {
		return yes
	}
	return no
}

// value returns the JSON of n, as it stands in the input or as it is printed.
func (s *Scratch) value(n *node) []byte {
	switch n.op {
	case opPath:
		at := s.slots[n.at.slot]
		switch {
		case at.wrong:
			return s.asks()
		case at.text == nil:
			return null
		}
		return at.text
	case opConst:
		return n.text
	case opHas:
		at := s.slots[n.at.slot]
		if at.wrong {
			return s.asks()
		}
		return boolean(at.text != nil)
	case opCompare:
		return s.compared(n.cmp, s.value(n.kids[0]), s.value(n.kids[1]))
	case opAnd:
		return boolean(truth(s.value(n.kids[0])) && truth(s.value(n.kids[1])))
	case opOr:
		return boolean(truth(s.value(n.kids[0])) || truth(s.value(n.kids[1])))
	case opNot:
		return boolean(!truth(s.value(n.kids[0])))
	case opOtherwise:
		if left := s.value(n.kids[0]); truth(left) {
			return left
		}
		return s.value(n.kids[1])
	case opIf:
		if truth(s.value(n.kids[0])) {
			return s.value(n.kids[1])
		}
		return s.value(n.kids[2])
	case opThen:
		s.value(n.kids[0])
		return s.value(n.kids[1])
	case opType:
		return typeNames[scan.Type(s.value(n.kids[0]))]
	case opLength:
		return s.length(s.value(n.kids[0]))
	case opStarts, opEnds, opContains, opTest:
		return s.tested(n, s.value(n.kids[0]))
	}
	start := len(s.text)
	s.print(n)
	return s.text[start:len(s.text):len(s.text)]
}

var typeNames = [256][]byte{
	'o': []byte(`"object"`), 'a': []byte(`"array"`), 's': []byte(`"string"`), 'n': []byte(`"number"`),
	't': []byte(`"boolean"`), 'f': []byte(`"boolean"`), '0': []byte(`"null"`),
}

// print appends n, as it is printed, to s.text.
func (s *Scratch) print(n *node) {
	switch n.op {
	case opObject:
		s.text = append(s.text, '{')
		for i, kid := range n.kids {
			s.text = append(s.text, n.keys[i]...)
			s.print(kid)
		}
		s.text = append(s.text, '}')
	case opArray:
		start := len(s.text)
		s.text = append(s.text, '[')
		s.do(n.body, start)
		s.text = append(s.text, ']')
	case opText:
		s.text = append(s.text, '"')
		for _, kid := range n.kids {
			s.inside(kid)
		}
		s.text = append(s.text, '"')
	default:
		start := len(s.text)
		val := s.value(n) // which may have been made there
		s.text = appendPrinted(s.text[:start], val)
	}
}

// inside appends what n is inside a string.
func (s *Scratch) inside(n *node) {
	start := len(s.text)
	s.print(n)
	switch s.text[start] {
	case '"':
		s.text = append(s.text[:start], s.text[start+1:len(s.text)-1]...) // without the quotes
	case '{', '[':
		s.asks() // gojq sorts its keys, and what is in it is text
	}
}

// compared returns what an operator says of two values; gojq is asked where both are arrays
// or both objects.
func (s *Scratch) compared(o gojq.Operator, a, b []byte) []byte {
	order, ok := compare(a, b)
	switch {
	case !ok:
		return s.asks()
	case o == gojq.OpEq:
		return boolean(order == 0)
	case o == gojq.OpNe:
		return boolean(order != 0)
	case o == gojq.OpLt:
		return boolean(order < 0)
	case o == gojq.OpLe:
		return boolean(order <= 0)
	case o == gojq.OpGt:
		return boolean(order > 0)
	}
	return boolean(order >= 0)
}

// length returns what length says of a value; gojq is asked about numbers and objects.
func (s *Scratch) length(val []byte) []byte {
	n := 0
	switch scan.Type(val) {
	case '0':
	case 's':
		n = utf8.RuneCount(words(val))
	case 'a':
		n = scan.Count(val)
	default:
		return s.asks()
	}
	start := len(s.text)
	s.text = strconv.AppendInt(s.text, int64(n), 10)
	return s.text[start:len(s.text):len(s.text)]
}

// words returns the text of a string.
func words(val []byte) []byte {
	if val = val[1 : len(val)-1]; odd(val) {
		return []byte(unescape(val))
	}
	return val
}

// tested returns what a function with a text says of val, which has to be a string.
func (s *Scratch) tested(n *node, val []byte) []byte {
	if val[0] != '"' {
		return s.asks()
	}
	text, found := words(val), false
	switch n.op {
	case opStarts:
		found = bytes.HasPrefix(text, n.text)
	case opEnds:
		found = bytes.HasSuffix(text, n.text)
	case opContains:
		found = bytes.Contains(text, n.text)
	case opTest:
		found = n.re.Match(text)
	}
	return boolean(found)
}
