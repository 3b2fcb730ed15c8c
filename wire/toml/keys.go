package toml

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A Kind is the type of a key's value.
type Kind uint8

const (
	Other Kind = iota // a date or a time
	Text
	Number
	Bool
	Array
	Table
)

// A Key is a key in a TOML file. In its path, a table in an array of tables is represented by its index, from 0.
type Key struct {
	Path  []string
	Line  int // the line number, from 1
	Kind  Kind
	Items []Kind // the kinds of an Array's elements
}

// Name returns the path in human-readable form: greet[0].keep.protocol.
func (k Key) Name() string {
	var b strings.Builder
	for i, part := range k.Path {
		if _, err := strconv.Atoi(part); err == nil && i > 0 {
			b.WriteString("[" + part + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(part)
	}
	return b.String()
}

// Keys returns all keys in b in order, including tables and the keys of inline tables. b must be valid TOML.
func Keys(b []byte) []Key {
	w := walker{counts: map[string]int{}}
	w.p.Reset(b)
	for w.p.NextExpression() {
		n := w.p.Expression()
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			w.table(n)
		case unstable.KeyValue:
			w.keyValue(w.at, n)
		}
	}
	return w.keys
}

// A walker collects the keys in a file.
type walker struct {
	p      unstable.Parser
	at     []string       // the current table
	counts map[string]int // how many tables each array of tables has so far, by path
	keys   []Key
}

// table processes the header of a table: [a.b] or [[a.b]].
func (w *walker) table(n *unstable.Node) {
	names, line := w.names(n.Key())
	w.at = nil
	for i, name := range names {
		w.at = append(w.at, name)
		path := strings.Join(w.at, "\x00")
		last := i == len(names)-1
		if last && n.Kind == unstable.ArrayTable {
			w.counts[path]++
		}
		if count := w.counts[path]; count > 0 {
			w.at = append(w.at, strconv.Itoa(count-1))
		}
	}
	w.keys = append(w.keys, Key{Path: w.at, Line: line, Kind: Table})
}

func (w *walker) keyValue(under []string, n *unstable.Node) {
	names, line := w.names(n.Key())
	w.value(slices.Concat(under, names), line, n.Value())
}

func (w *walker) value(path []string, line int, val *unstable.Node) {
	at, i := len(w.keys), 0
	w.keys = append(w.keys, Key{Path: path, Line: line, Kind: kinds[val.Kind]})
	for it := val.Children(); it.Next(); i++ {
		part := it.Node()
		if val.Kind == unstable.InlineTable {
			w.keyValue(path, part)
			continue
		}
		w.keys[at].Items = append(w.keys[at].Items, kinds[part.Kind])
		if part.Kind == unstable.InlineTable {
			w.value(append(slices.Clone(path), strconv.Itoa(i)), line, part)
		}
	}
}

func (w *walker) names(it unstable.Iterator) (names []string, line int) {
	for it.Next() {
		n := it.Node()
		names = append(names, string(n.Data))
		line = w.p.Shape(n.Raw).Start.Line
	}
	return names, line
}

var kinds = map[unstable.Kind]Kind{
	unstable.String: Text, unstable.Bool: Bool, unstable.Integer: Number, unstable.Float: Number,
	unstable.Array: Array, unstable.InlineTable: Table,
}
