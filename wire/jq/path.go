package jq

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"rpcx/wire/scan"
)

// A step is a member of an object or, if key is nil, an element of an array.
type step struct {
	key   []byte
	index int // a negative index counts from the end
}

// pathOf returns the path that q follows, and the variable of vars in which it starts, or "" for the input. If q does more,
// path is nil. The path of the identity is empty.
func pathOf(q *gojq.Query, vars []declared) (root string, path []step) {
	switch {
	case !isSimple(q):
		return "", nil
	case q.Op == gojq.OpPipe:
		root, left := pathOf(q.Left, vars)
		inner, right := pathOf(q.Right, vars)
		if left == nil || right == nil || inner != "" {
			return "", nil
		}
		return root, append(left, right...)
	case q.Term == nil:
		return "", nil
	}
	path = start(q.Term)
	if f := q.Term.Func; f != nil && slices.ContainsFunc(vars, func(v declared) bool { return "$"+v.name == f.Name }) {
		root, path = f.Name[1:], []step{}
	}
	whole, more := constants(path, q.Term.SuffixList)
	if path == nil || len(more) > 0 {
		return "", nil
	}
	return root, whole
}

// start returns the path of a term without its suffixes, or nil if the term is not a path in the input.
func start(t *gojq.Term) []step {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return []step{}
	case gojq.TermTypeIndex:
		if s, ok := constant(t.Index); ok {
			return []step{s}
		}
	}
	return nil
}

// constants appends the steps at the start of suffixes that are constant to path, and returns the remaining suffixes.
func constants(path []step, suffixes []*gojq.Suffix) ([]step, []*gojq.Suffix) {
	for n, suffix := range suffixes {
		s, ok := constant(suffix.Index)
		if !ok {
			return path, suffixes[n:]
		}
		path = append(path, s)
	}
	return path, nil
}

// constant returns the step for an index that does not depend on the input.
func constant(x *gojq.Index) (s step, ok bool) {
	switch {
	case x == nil || x.IsSlice:
		return s, false
	case x.Name != "":
		return step{key: []byte(x.Name)}, true
	case x.Str != nil:
		return textStep(x.Str)
	case x.Start == nil || x.Start.Term == nil || len(x.Start.Term.SuffixList) > 0 || len(x.Start.FuncDefs) > 0:
		return s, false
	}
	t := x.Start.Term
	switch t.Type {
	case gojq.TermTypeString:
		return textStep(t.Str)
	case gojq.TermTypeNumber:
		n, err := strconv.Atoi(t.Number)
		return step{index: n}, err == nil
	case gojq.TermTypeUnary:
		u := t.Unary
		if u.Op == gojq.OpSub && u.Term.Type == gojq.TermTypeNumber && len(u.Term.SuffixList) == 0 {
			n, err := strconv.Atoi(u.Term.Number)
			return step{index: -n}, err == nil
		}
	}
	return s, false
}

func textStep(s *gojq.String) (step, bool) {
	return step{key: append([]byte{}, s.Str...)}, s.Queries == nil && utf8.ValidString(s.Str)
}

// follow returns the output of a program that only follows a path. It returns nil for other programs, and if the path
// causes an error, which gojq must report. It checks all of the value in which the path starts.
func (p *Program) follow(in []byte, vals Values) ([]byte, error) {
	if p.path == nil {
		return nil, nil
	}
	if p.root != "" {
		in = vals.of(p.root)
	}
	val, ok, end := followAt(in, scan.Skip(in, 0), maxDepth, p.path)
	switch {
	case end < 0 || scan.Skip(in, end) < len(in):
		return nil, inputFault(scan.Valid(in, maxDepth))
	case !ok:
		return nil, nil
	}
	return val, nil
}

// followAt returns the value at path in the value that starts at b[i], or null if a member or element does not exist. ok is
// false if the path causes an error. end is where the value at i ends, or -1 if it is not valid. Among members with the same
// name, the last one counts.
func followAt(b []byte, i, depth int, path []step) (val []byte, ok bool, end int) {
	kind := scan.Type(b[i:])
	if len(path) == 0 || kind != 'o' && kind != 'a' {
		end, err := scan.Value(b, i, depth)
		switch {
		case err != nil:
			return nil, false, -1
		case len(path) == 0:
			return b[i:end], true, end
		}
		return null, kind == '0', end
	}
	c, next := scan.ReadObjectAt(b, i, depth), path[0]
	if kind == 'a' {
		c = scan.ReadArrayAt(b, i, depth)
	}
	if next.index < 0 {
		next.index += scan.Count(b[i:])
	}
	val, ok = null, (next.key != nil) == (kind == 'o')
	n := 0
	for key, more := c.NextKey(); more; key, more = c.NextKey() {
		if n++; !next.leadsTo(key, n-1) {
			c.Value()
			continue
		}
		if val, ok, end = followAt(b, c.Pos(), depth-1, path[1:]); end < 0 {
			return nil, false, -1
		}
		c.SkipTo(end)
	}
	if c.Err() != nil {
		return nil, false, -1
	}
	return val, ok, c.Pos()
}

// leadsTo reports whether s leads to the member with the text key, without quotes, or, if key is nil, to element n.
func (s step) leadsTo(key []byte, n int) bool {
	if s.key == nil || key == nil {
		return s.key == nil && key == nil && n == s.index
	}
	return string(key) == string(s.key) || odd(key) && unescape(key) == string(s.key)
}

// compact returns val without the blanks between tokens. If there are none, it returns val itself.
func compact(val []byte) json.RawMessage {
	if scan.IsMinified(val) {
		return val
	}
	return scan.Minify(nil, val)
}

var null = []byte("null")

// odd reports whether the text that name stands for may differ from its bytes.
func odd(name []byte) bool { return bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) }
