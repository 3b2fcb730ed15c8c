package jq

import (
	"slices"

	"rpcx/wire/scan"
)

// A place is a part of the input that a plan reads.
type place struct {
	step  step // the step that leads from the enclosing place to this one
	slot  int  // the index of its slot in the list that read receives
	parts []*place
}

// A slot contains the text of a place. A nil text means that the part does not exist, so its value is null. wrong means
// that reading the part is an error, or that gojq must evaluate the input.
type slot struct {
	text  []byte
	wrong bool
}

// read checks all of b. In the same pass, it finds the parts of b that belong to p and the places below p. It returns
// false if b is not one valid value.
func (p *place) read(b []byte, slots []slot) bool {
	b = b[scan.Skip(b, 0):]
	c := scan.ReadObject(b, maxDepth)
	switch {
	case len(p.parts) > 0 && len(b) > 0 && b[0] == '{':
		p.members(&c, slots)
	case len(p.parts) > 0 && len(b) > 0 && b[0] == '[':
		c = scan.ReadArray(b, maxDepth)
		p.elements(&c, slots)
	default:
		if scan.Valid(b, maxDepth) != nil {
			return false
		}
		p.other(b[0], slots)
		slots[p.slot].text = scan.Trim(b)
		return true
	}
	slots[p.slot].text = scan.Trim(b)
	return c.Err() == nil
}

// members finds the parts of an object. If a member is repeated, the last one counts.
func (p *place) members(c *scan.Cursor, slots []slot) {
	for key, ok := c.NextKey(); ok; key, ok = c.NextKey() {
		if at := p.member(key); at == nil {
			c.Value()
		} else {
			at.enter(c, slots)
		}
	}
	p.wrong(slots, false)
}

// elements finds the parts of an array.
func (p *place) elements(c *scan.Cursor, slots []slot) {
	n, total := 0, p.count(*c)
	for _, ok := c.NextKey(); ok; _, ok = c.NextKey() {
		if at := p.element(n, total); at == nil {
			c.Value()
		} else {
			at.enter(c, slots)
		}
		n++
	}
	p.wrong(slots, true)
}

// enter reads the value at the position of c for p.
func (p *place) enter(c *scan.Cursor, slots []slot) {
	kind := byte(0)
	if len(p.parts) > 0 {
		p.clearParts(slots) // an earlier member had the same name
		kind = c.Peek()
	}
	switch kind {
	case 0:
		slots[p.slot].text = c.Value()
	case '{':
		in, _ := c.Object()
		p.members(&in, slots)
		slots[p.slot].text = c.Skip(&in)
	case '[':
		in, _ := c.Array()
		p.elements(&in, slots)
		slots[p.slot].text = c.Skip(&in)
	default:
		p.other(kind, slots)
		slots[p.slot].text = c.Value()
	}
}

// other records the result for a value that has no parts: the parts of null are null, and any others are errors.
func (p *place) other(kind byte, slots []slot) {
	if kind != 'n' {
		p.wrong(slots, true)
		p.wrong(slots, false)
	}
}

// wrong records that p has no members (members is set) or no elements.
func (p *place) wrong(slots []slot, members bool) {
	for _, at := range p.parts {
		if (at.step.key != nil) == members {
			slots[at.slot].wrong = true
			at.wrong(slots, true)
			at.wrong(slots, false)
		}
	}
}

// clearParts empties the slots of the parts of p.
func (p *place) clearParts(slots []slot) {
	for _, at := range p.parts {
		slots[at.slot] = slot{}
		at.clearParts(slots)
	}
}

func (p *place) member(key []byte) *place {
	for _, at := range p.parts {
		if at.step.key != nil && string(at.step.key) == string(key) {
			return at
		}
	}
	if plain(key) {
		return nil
	}
	text := unescape(key)
	for _, at := range p.parts {
		if at.step.key != nil && string(at.step.key) == text {
			return at
		}
	}
	return nil
}

// plain reports whether key is ASCII without escapes.
func plain(key []byte) bool {
	for _, c := range key {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// count returns the number of elements that c has yet to read, if a part of p is counted from the end.
func (p *place) count(c scan.Cursor) (total int) {
	if slices.ContainsFunc(p.parts, func(at *place) bool { return at.step.index < 0 }) {
		for _, ok := c.NextKey(); ok; _, ok = c.NextKey() {
			c.Value()
			total++
		}
	}
	return total
}

// element returns the part for the element at an index, where total is the number of elements.
func (p *place) element(index, total int) *place {
	for _, at := range p.parts {
		if at.step.key == nil && (at.step.index == index || at.step.index == index-total) {
			return at
		}
	}
	return nil
}
