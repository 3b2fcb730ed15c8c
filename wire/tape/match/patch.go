package match

import (
	"strings"

	"rpcx/wire/scan"
)

// Patch returns msg with the received values of the differences in place of the expected ones. All other bytes are kept,
// except for whitespace.
func Patch(msg []byte, differences []Difference) []byte {
	p := patcher{at: map[string]Difference{}, added: map[string][]Difference{}}
	for _, d := range differences {
		parent := d.Pointer[:max(strings.LastIndexByte(d.Pointer, '/'), 0)]
		if d.Moved != nil {
			p.at[parent] = Difference{Got: d.Moved.Around}
		} else if d.Want == nil {
			p.added[parent] = append(p.added[parent], d)
		} else {
			p.at[d.Pointer] = d
		}
	}
	return p.value(msg, "")
}

type patcher struct {
	at    map[string]Difference
	added map[string][]Difference
}

// value returns the received form of part, the value at pointer, or nil if it was not received.
func (p *patcher) value(part []byte, pointer string) []byte {
	if d, ok := p.at[pointer]; ok {
		return d.Got
	}
	switch scan.Type(part) {
	case 'o':
		var o scan.Object
		for key, val := range scan.Members(part) {
			if val = p.value(val, scan.Descend(pointer, 0, key)); val != nil {
				o.Member(key, val)
			}
		}
		for _, d := range p.added[pointer] {
			o.Add(nameOf(d.Pointer), d.Got)
		}
		return o.End()
	case 'a':
		var a scan.Array
		i := 0
		for val := range scan.Elements(part) {
			if val = p.value(val, scan.Descend(pointer, i, nil)); val != nil {
				a.Add(val)
			}
			i++
		}
		for _, d := range p.added[pointer] {
			a.Add(d.Got)
		}
		return a.End()
	}
	return part
}

// nameOf returns the name of the member to which a JSON pointer leads.
func nameOf(pointer string) string {
	return scan.Unescape(pointer[strings.LastIndexByte(pointer, '/')+1:])
}
