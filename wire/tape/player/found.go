package player

import (
	"cmp"
	"encoding/binary"
	"iter"

	"rpcx/wire/scratch"
)

// Findings is a list of findings, in the order of the tape, of which little is in memory: a
// conversation may be another one in a million places.
type Findings struct {
	list scratch.Log
}

// A place is a finding with what --update has to know of it.
type place struct {
	Finding
	entry int32  // of Differs and Missing; of Extra, the one after which it came, transcript.None: before all
	from  int32  // of Extra, the entry of the tape that is compared
	msg   []byte // of Extra, what came
}

// Len returns how many there are.
func (l *Findings) Len() int {
	if l == nil {
		return 0
	}
	return l.list.Len()
}

// All returns them, in their order. What goes wrong on the way is said by Err.
func (l *Findings) All() iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		for i := range l.Len() {
			if !yield(l.at(i).Finding) {
				return
			}
		}
	}
}

func (l *Findings) at(i int) place {
	p, _ := readPlace(l.list.Get(i))
	return p
}

func (l *Findings) add(p place) { l.list.Add(appendPlace(nil, p)) }

// Join adds all of more.
func (l *Findings) Join(more *Findings) {
	for i := range more.Len() {
		l.list.Add(more.list.Get(i))
	}
}

// Err returns the error of the temporary file; nil if there was none.
func (l *Findings) Err() error {
	if l == nil {
		return nil
	}
	return l.list.Err()
}

// Close closes the temporary file.
func (l *Findings) Close() {
	if l != nil {
		_ = l.list.Close()
	}
}

// merged returns the findings of two lists, in the order of their lines.
func merged(a, b *Findings) *Findings {
	all := &Findings{}
	i, j := 0, 0
	for i < a.Len() || j < b.Len() {
		if j == b.Len() || i < a.Len() && cmp.Compare(a.at(i).Line, b.at(j).Line) <= 0 {
			all.list.Add(a.list.Get(i))
			i++
		} else {
			all.list.Add(b.list.Get(j))
			j++
		}
	}
	return all
}

// appendPlace appends p in a form that readPlace reads.
func appendPlace(b []byte, p place) []byte {
	b = binary.AppendVarint(b, int64(p.Line))
	b = binary.AppendVarint(b, int64(p.entry))
	b = binary.AppendVarint(b, int64(p.from))
	for _, text := range [][]byte{[]byte(p.Kind), []byte(p.Method), []byte(p.Pointer), []byte(p.Text), p.Want, p.Got, p.msg} {
		if text == nil {
			b = binary.AppendUvarint(b, 0)
			continue
		}
		b = append(binary.AppendUvarint(b, uint64(len(text))+1), text...)
	}
	return b
}

// readPlace reads one place, and returns what follows it.
func readPlace(b []byte) (p place, rest []byte) {
	number := func() int64 {
		n, size := binary.Varint(b)
		b = b[max(size, 0):]
		return n
	}
	text := func() []byte {
		n, size := binary.Uvarint(b)
		b = b[max(size, 0):]
		if n == 0 || n-1 > uint64(len(b)) {
			return nil
		}
		part := b[: n-1 : n-1]
		b = b[n-1:]
		return part
	}
	p.Line, p.entry, p.from = int(number()), int32(number()), int32(number())
	p.Kind, p.Method, p.Pointer, p.Text = FindingKind(text()), string(text()), string(text()), string(text())
	p.Want, p.Got, p.msg = text(), text(), text()
	return p, b
}
