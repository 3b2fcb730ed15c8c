package params

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// A node is an incomplete JSON value: unchanged bytes, or an object or array of nodes. Bytes become nodes only where a
// key leads into them. All other parts keep their digits and their order.
type node struct {
	kind  byte            // 'o' object, 'a' array, or 0 for the bytes in raw
	raw   json.RawMessage // the value for kind 0
	keys  [][]byte        // for kind 'o': the keys of members as written, without quotes
	list  []*node         // members or elements
	given string          // the word that set this value or first led into it, or ""
	whole bool            // given has set the whole value
}

// fromJSON returns a node for a valid JSON value.
func fromJSON(raw json.RawMessage) *node { return &node{raw: raw} }

// open converts the bytes of an object or array to nodes.
func (n *node) open() {
	if n.kind != 0 {
		return
	}
	kind := scan.Type(n.raw)
	if kind != 'o' && kind != 'a' {
		return
	}
	n.kind = kind
	for key, val := range scan.Members(n.raw) {
		n.keys = append(n.keys, key)
		n.list = append(n.list, fromJSON(val))
	}
	for val := range scan.Elements(n.raw) {
		n.list = append(n.list, fromJSON(val))
	}
	n.raw = nil
}

// find returns the index of a member, or -1. If the member is repeated, it returns the last one, as most JSON parsers do.
func (n *node) find(name string) int {
	for i := len(n.keys) - 1; i >= 0; i-- {
		if scan.IsKey(n.keys[i], name) {
			return i
		}
	}
	return -1
}

// rename renames an existing member unless the new name exists, and reports whether it did.
func (n *node) rename(from, to string) bool {
	i := n.find(from)
	if n.kind != 'o' || i < 0 || n.find(to) >= 0 {
		return false
	}
	quoted := scan.AppendQuoted(nil, to)
	n.keys[i] = quoted[1 : len(quoted)-1]
	return true
}

// add appends a member or an element.
func (n *node) add(name string, child *node) {
	if n.kind == 'o' {
		quoted := scan.AppendQuoted(nil, name)
		n.keys = append(n.keys, quoted[1:len(quoted)-1])
	}
	n.list = append(n.list, child)
}

// set stores v at path and returns the JSON pointer of that place. It returns an error if another word has set the
// value.
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
			return "", fmt.Errorf("%s was already set by %s", where(path), clip(child.given))
		}
		*child = node{raw: v, given: word, whole: true}
	}
	return pointer.String(), nil
}

// enter makes n an object or array for the step s, if possible.
func (n *node) enter(s step, word string) error {
	if n.whole {
		return errors.New("its value was already set by " + clip(n.given))
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
		return fmt.Errorf("its key continues inside %s", what)
	}
	n.given = cmp.Or(n.given, word)
	return nil
}

// child returns the node of the step s and its index. It adds a missing node.
func (n *node) child(s step) (*node, int) {
	if !s.more {
		if i := n.find(s.name); i >= 0 {
			return n.list[i], i
		}
	}
	n.add(s.name, &node{})
	return n.list[len(n.list)-1], len(n.list) - 1
}

// at returns the node of a JSON pointer, or nil. It opens nodes on the way.
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

// names returns a JSON pointer as a path for a Typer.
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

// json returns the value as JSON.
func (n *node) json() []byte {
	switch n.kind {
	case 0:
		return bytes.Clone(n.raw)
	case 'o':
		o := scan.AppendObject(nil)
		for i, child := range n.list {
			o.Member(n.keys[i], child.json())
		}
		return o.End()
	}
	a := scan.AppendArray(nil)
	for _, child := range n.list {
		a.Add(child.json())
	}
	return a.End()
}

// where returns a path as the user would type it.
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
