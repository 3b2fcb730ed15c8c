package jq

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"rpcx/wire/scan"
)

// run computes the output for in. The output is in s.outs, and its bytes belong to in or s. run returns false if gojq
// must compute the output.
func (p *plan) run(ctx context.Context, in []byte, s *Scratch) bool {
	if p == nil || ctx.Err() != nil || mayBeHuge(in) {
		return false
	}
	if cap(s.text) > maxScratch {
		s.text = nil
	}
	s.text, s.outs, s.unsure = s.text[:0], s.outs[:0], false
	s.slots = slices.Grow(s.slots[:0], p.slots)[:p.slots]
	clear(s.slots)
	if !p.input.read(in, s.slots) {
		return false
	}
	for _, c := range p.checks {
		val := s.value(c.value)
		if s.unsure || c.must && !truth(val) {
			return !s.unsure
		}
	}
	s.outs = append(s.outs, s.printed(s.value(p.output)))
	return !s.unsure
}

// mayBeHuge reports whether b may contain a number with more than maxDigits digits.
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

func truth(val []byte) bool { return val[0] != 'n' && val[0] != 'f' }

// useGojq leaves the evaluation of the input to gojq.
func (s *Scratch) useGojq() []byte {
	s.unsure = true
	return null
}

var yes, no = []byte("true"), []byte("false")

func boolean(b bool) []byte {
	if b {
		return yes
	}
	return no
}

// value returns the value of n as JSON, which belongs to the input or to s.text.
func (s *Scratch) value(n *node) []byte {
	switch n.op {
	case opPath:
		switch at := s.slots[n.at.slot]; {
		case at.wrong:
			return s.useGojq()
		case at.text == nil:
			return null
		default:
			return at.text
		}
	case opConst:
		return n.text
	case opCompare:
		return s.compared(n.cmp, s.value(n.kids[0]), s.value(n.kids[1]))
	case opAnd:
		return boolean(truth(s.value(n.kids[0])) && truth(s.value(n.kids[1])))
	case opOr:
		return boolean(truth(s.value(n.kids[0])) || truth(s.value(n.kids[1])))
	}
	start := len(s.text)
	s.print(n)
	return s.text[start:len(s.text):len(s.text)]
}

// print appends n to s.text as gojq would print it.
func (s *Scratch) print(n *node) {
	if n.op != opObject {
		val := s.value(n)
		if c := val[0]; c == '{' || c == '[' {
			s.text = scan.Minify(s.text, val)
		} else {
			s.text = append(s.text, s.printed(val)...)
		}
		return
	}
	s.text = append(s.text, '{')
	for i, kid := range n.kids {
		s.text = append(s.text, n.keys[i]...)
		s.print(kid)
	}
	s.text = append(s.text, '}')
}

// printed returns val as gojq would print it.
func (s *Scratch) printed(val []byte) []byte {
	switch val[0] {
	case '{', '[':
		return compact(val)
	case '"':
		if !isPrintedText(val) {
			return s.useGojq()
		}
	}
	return val
}

// isPrintedText reports whether gojq prints the string val unchanged.
func isPrintedText(val []byte) bool {
	if bytes.IndexByte(val, 0x7f) >= 0 || !utf8.Valid(val) {
		return false
	}
	for rest := val; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return true
		}
		if c := rest[i+1]; c == 'u' || c == '/' {
			return false
		}
		rest = rest[i+2:]
	}
}

// compared returns the result of a comparison.
func (s *Scratch) compared(o gojq.Operator, a, b []byte) []byte {
	order, ok := compare(a, b)
	switch {
	case !ok:
		return s.useGojq()
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

// words returns the content of a string.
func words(val []byte) []byte {
	if val = val[1 : len(val)-1]; odd(val) {
		return []byte(unescape(val))
	}
	return val
}

// orderOf returns the position of a type in jq's order of types.
var orderOf = [256]int8{'0': 0, 'f': 1, 't': 2, 'n': 3, 's': 4, 'a': 5, 'o': 6}

// compare is like gojq.Compare, but for values in JSON. ok is false if both are arrays or both are objects.
func compare(a, b []byte) (order int, ok bool) {
	kind, other := scan.Type(a), scan.Type(b)
	switch {
	case kind != other:
		return cmp.Compare(orderOf[kind], orderOf[other]), true
	case kind == 'n':
		return compareNumbers(a, b), true
	case kind == 's':
		return bytes.Compare(words(a), words(b)), true
	}
	return 0, kind != 'o' && kind != 'a'
}

// compareNumbers compares integers exactly, and other numbers as float64.
func compareNumbers(a, b []byte) int {
	if bytes.ContainsAny(a, ".eE") || bytes.ContainsAny(b, ".eE") {
		return cmp.Compare(float(a), float(b))
	}
	a, below := bytes.CutPrefix(a, minus)
	b, alsoBelow := bytes.CutPrefix(b, minus)
	order := cmp.Compare(len(a), len(b))
	if order == 0 {
		order = bytes.Compare(a, b)
	}
	switch {
	case below && alsoBelow:
		return -order
	case below != alsoBelow && a[0] == '0' && b[0] == '0': // 0 and -0
		return 0
	case below:
		return -1
	case alsoBelow:
		return 1
	}
	return order
}

var minus = []byte("-")

// float returns the value of a number, or an infinity if the number is too large.
func float(val []byte) float64 {
	f, _ := strconv.ParseFloat(string(val), 64)
	return f
}
