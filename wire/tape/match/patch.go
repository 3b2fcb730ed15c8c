package match

import (
	"strings"

	"rpcx/wire"
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
	return p.value(nil, msg, "")
}

type patcher struct {
	at    map[string]Difference
	added map[string][]Difference
}

func (p *patcher) value(b, part []byte, pointer string) []byte {
	if d, ok := p.at[pointer]; ok {
		return append(b, d.Got...)
	}
	switch scan.Type(part) {
	case 'o':
		return p.parts(b, scan.ReadObject(part, wire.DefaultMaxDepth+1), pointer, "{}")
	case 'a':
		return p.parts(b, scan.ReadArray(part, wire.DefaultMaxDepth+1), pointer, "[]")
	}
	return append(b, part...)
}

func (p *patcher) parts(b []byte, c scan.Cursor, pointer, ends string) []byte {
	b = append(b, ends[0])
	start := len(b)
	next := func(key []byte) {
		if len(b) > start {
			b = append(b, ',')
		}
		if ends == "{}" {
			b = append(append(append(b, '"'), key...), `":`...)
		}
	}
	i := 0
	for key, part, ok := c.Next(); ok; key, part, ok = c.Next() {
		inner := scan.Descend(pointer, i, key)
		i++
		if d, gone := p.at[inner]; gone && d.Got == nil {
			continue
		}
		next(key)
		b = p.value(b, part, inner)
	}
	for _, d := range p.added[pointer] {
		name := scan.Unescape(d.Pointer[strings.LastIndexByte(d.Pointer, '/')+1:])
		quoted := scan.AppendQuoted(nil, name)
		next(quoted[1 : len(quoted)-1])
		b = append(b, d.Got...)
	}
	return append(b, ends[1])
}
