package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// A node is a value that is being built: one as it stands in bytes, or an
// object or array of nodes. Values given in bytes are opened only where a key
// leads into them, so that all else keeps its bytes.
type node struct {
	kind  byte            // 'o' object, 'a' array, 0 as it stands in raw
	raw   json.RawMessage // of kind 0
	keys  [][]byte        // of kind 'o': the members' keys as they stand, without quotes
	list  []*node         // members or elements
	given string          // the word that set this value whole, or opened it first; "": none
	whole bool            // given set it whole
}

// fromJSON makes a node of a valid value.
func fromJSON(raw json.RawMessage) *node { return &node{raw: raw} }

// open makes an object's or array's members or elements nodes.
func (n *node) open() {
	if n.kind != 0 {
		return
	}
	members := scan.Object(n.raw, wire.DefaultMaxDepth)
	switch scan.Type(n.raw) {
	case 'o':
		n.kind = 'o'
	case 'a':
		n.kind = 'a'
		members = scan.Array(n.raw, wire.DefaultMaxDepth)
	default:
		return
	}
	for key, val, ok := members.Next(); ok; key, val, ok = members.Next() {
		if n.kind == 'o' {
			n.keys = append(n.keys, key)
		}
		n.list = append(n.list, fromJSON(val))
	}
	n.raw = nil
}

// find is the index of the member name; of several the last, which is the one
// that counts for most readers. -1: none.
func (n *node) find(name string) int {
	for i := len(n.keys) - 1; i >= 0; i-- {
		if scan.IsKey(n.keys[i], name) {
			return i
		}
	}
	return -1
}

// add puts a further member or element at the end.
func (n *node) add(name string, child *node) {
	if n.kind == 'o' {
		quoted := scan.AppendQuoted(nil, name)
		n.keys = append(n.keys, quoted[1:len(quoted)-1])
	}
	n.list = append(n.list, child)
}

// set puts v at path and returns the JSON pointer of that place. What another
// word has set is never set again.
func (n *node) set(path []step, v json.RawMessage, word string) (string, error) {
	var pointer strings.Builder
	for i, s := range path {
		if err := n.enter(s, word); err != nil {
			return "", err
		}
		child, index := n.child(s)
		if s.more {
			pointer.WriteString("/" + strconv.Itoa(index))
		} else {
			pointer.WriteString("/" + scan.Escape(s.name))
		}
		if i < len(path)-1 {
			n = child
			continue
		}
		if child.given != "" {
			return "", fmt.Errorf("%s was set before, by %s", where(path), clip(child.given))
		}
		*child = node{raw: v, given: word, whole: true}
	}
	return pointer.String(), nil
}

// enter makes n a container that s can lead into.
func (n *node) enter(s step, word string) error {
	if n.whole {
		return errors.New("its place has a value already, set by " + clip(n.given))
	}
	if n.kind == 0 && n.raw == nil {
		n.kind = 'o'
		if s.more {
			n.kind = 'a'
		}
	}
	n.open()
	if s.more && n.kind != 'a' || !s.more && n.kind != 'o' {
		what := map[byte]string{'o': "an object", 'a': "an array", 0: "a plain value"}[n.kind]
		if n.given != "" {
			what += " because of " + clip(n.given)
		}
		return fmt.Errorf("its key leads into %s", what)
	}
	if n.given == "" {
		n.given = word
	}
	return nil
}

// child is the node that s names, made where there is none.
func (n *node) child(s step) (*node, int) {
	if !s.more {
		if i := n.find(s.name); i >= 0 {
			return n.list[i], i
		}
	}
	n.add(s.name, &node{})
	return n.list[len(n.list)-1], len(n.list) - 1
}

// at is the node that a JSON pointer names, opened on the way; nil for none.
func (n *node) at(pointer string) *node {
	if pointer == "" {
		return n
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		n.open()
		i := -1
		switch n.kind {
		case 'o':
			i = n.find(scan.Unescape(token))
		case 'a':
			if k, err := strconv.Atoi(token); err == nil && k < len(n.list) {
				i = k
			}
		}
		if i < 0 {
			return nil
		}
		n = n.list[i]
	}
	return n
}

// names is a JSON pointer as a Typer's path.
func (n *node) names(pointer string) []string {
	var path []string
	for i, c := range pointer {
		if c != '/' {
			continue
		}
		token, _, _ := strings.Cut(pointer[i+1:], "/")
		if n.at(pointer[:i]).kind == 'a' {
			token = schema.Append
		}
		path = append(path, scan.Unescape(token))
	}
	return path
}

// append appends the value as JSON.
func (n *node) append(b []byte) []byte {
	switch n.kind {
	case 0:
		return append(b, n.raw...)
	case 'o':
		b = append(b, '{')
	case 'a':
		b = append(b, '[')
	}
	for i, child := range n.list {
		if i > 0 {
			b = append(b, ',')
		}
		if n.kind == 'o' {
			b = append(append(append(b, '"'), n.keys[i]...), `":`...)
		}
		b = child.append(b)
	}
	if n.kind == 'o' {
		return append(b, '}')
	}
	return append(b, ']')
}

// where is a path as a user writes it.
func where(path []step) string {
	var b strings.Builder
	for i, s := range path {
		switch {
		case s.more:
			b.WriteString("[]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}
