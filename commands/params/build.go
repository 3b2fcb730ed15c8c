package params

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// A node is a value that words build: the JSON in raw, or an object or array of nodes once a word has led into it. All other
// parts keep their digits and their order. Each word takes time proportional to its path and not to the whole value, because
// there may be thousands of words.
type node struct {
	kind  byte            // 'o' object, 'a' array, or 0 for the value in raw
	raw   json.RawMessage // nil if there is no value yet
	keys  [][]byte        // of an object: the keys of members as written, without quotes
	list  []*node         // members or elements
	given string          // the word that set this value or first led into it, or ""
	whole bool            // given has set the whole value
}

// set stores v at path and returns the JSON pointer of that place. It returns an error if another word has set the
// value.
func (n *node) set(path []string, v json.RawMessage, word string) (pointer string, err error) {
	for _, s := range path {
		if n.whole {
			return "", errors.New("its value was already set by " + clip(n.given))
		}
		if n.open(s); s == schema.Append && n.kind != 'a' || s != schema.Append && n.kind != 'o' {
			what := cmp.Or(map[byte]string{'o': "an object", 'a': "an array"}[n.kind], "a plain value")
			if n.given != "" {
				what += " because of " + clip(n.given)
			}
			return "", fmt.Errorf("its key continues inside %s", what)
		}
		n.given = cmp.Or(n.given, word)
		child, token := n.child(s)
		n, pointer = child, pointer+"/"+token
	}
	if n.given != "" {
		return "", fmt.Errorf("%s was already set by %s", where(path), clip(n.given))
	}
	*n = node{raw: v, given: word, whole: true}
	return pointer, nil
}

// open converts an object or array in n.raw to nodes. A missing value becomes what s leads into.
func (n *node) open(s string) {
	switch kind := scan.Type(n.raw); {
	case n.kind != 0:
	case n.raw == nil && s == schema.Append:
		n.kind = 'a'
	case n.raw == nil:
		n.kind = 'o'
	case kind == 'o', kind == 'a':
		n.kind = kind
	}
	for key, val := range scan.Members(n.raw) {
		n.keys, n.list = append(n.keys, key), append(n.list, &node{raw: val})
	}
	for val := range scan.Elements(n.raw) {
		n.list = append(n.list, &node{raw: val})
	}
	if n.kind != 0 {
		n.raw = nil
	}
}

// child returns the node of the step s, which it adds if it is missing, and its token in a JSON pointer. If a member is
// repeated, it returns the last one, as most JSON parsers do.
func (n *node) child(s string) (child *node, token string) {
	if s == schema.Append {
		token = strconv.Itoa(len(n.list))
	} else {
		token = scan.Escape(s)
		for i, key := range slices.Backward(n.keys) {
			if scan.IsKey(key, s) {
				return n.list[i], token
			}
		}
		quoted := scan.AppendQuoted(nil, s)
		n.keys = append(n.keys, quoted[1:len(quoted)-1])
	}
	child = &node{}
	n.list = append(n.list, child)
	return child, token
}

// json returns the value as JSON.
func (n *node) json() json.RawMessage {
	switch n.kind {
	case 'o':
		var o scan.Object
		for i, member := range n.list {
			o.Member(n.keys[i], member.json())
		}
		return o.End()
	case 'a':
		return scan.ArrayOf(wire.Map(n.list, (*node).json)...)
	}
	return n.raw
}

// renamed returns an object with another name for a member. It returns nil without that member, or if the new name exists.
func renamed(obj json.RawMessage, from, to string) json.RawMessage {
	if scan.Get(obj, from) == nil || scan.Get(obj, to) != nil {
		return nil
	}
	var o scan.Object
	for key, val := range scan.Members(obj) {
		if scan.IsKey(key, from) {
			o.Add(to, val)
		} else {
			o.Member(key, val)
		}
	}
	return o.End()
}

// where returns a path as the user would type it.
func where(path []string) string {
	parts := wire.Map(path, func(s string) string {
		if s == schema.Append {
			return "[]"
		}
		return "." + s
	})
	return strings.TrimPrefix(strings.Join(parts, ""), ".")
}
