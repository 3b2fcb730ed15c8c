package schema

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// pointerOf joins tokens to a JSON pointer.
func pointerOf(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(scan.Escape(t))
	}
	return b.String()
}

// lookup returns the part of v that a JSON pointer names.
func lookup(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = scan.Unescape(token)
		switch c := v.(type) {
		case map[string]any:
			e, ok := c[token]
			if !ok {
				return nil, false
			}
			v = e
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// rawAt is lookup in the bytes of a document; nil if there is nothing.
func rawAt(raw json.RawMessage, pointer string) json.RawMessage {
	if pointer == "" {
		return raw
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = scan.Unescape(token)
		var m map[string]json.RawMessage
		var a []json.RawMessage
		if json.Unmarshal(raw, &m) == nil {
			raw = m[token]
		} else if i, err := strconv.Atoi(token); err == nil && json.Unmarshal(raw, &a) == nil && i >= 0 && i < len(a) {
			raw = a[i]
		} else {
			return nil
		}
	}
	return raw
}

// propertyOrder lists the properties of the schema at pointer in the order of the
// bytes, those of its $ref and of the keywords through after its own.
func propertyOrder(raw json.RawMessage, pointer string, doc any, through ...string) []string {
	var names []string
	expand(doc, pointer, func(p string, m map[string]any) {
		if _, ok := m["properties"].(map[string]any); ok {
			for _, name := range catalog.Keys(rawAt(raw, p+"/properties")) {
				names = addName(names, name)
			}
		}
	}, through...)
	return names
}

func addName(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// maxDepth bounds how deep references and combinations are followed.
const maxDepth = 64

// maxExpanded bounds how many schemas are looked at that apply to one value.
const maxExpanded = 256

// expand calls f for the schema at pointer and for those that it applies to the
// same value, through $ref and through the named keywords.
func expand(doc any, pointer string, f func(pointer string, m map[string]any), through ...string) {
	seen := map[string]bool{}
	var visit func(p string, depth int)
	visit = func(p string, depth int) {
		v, ok := lookup(doc, p)
		m, isMap := v.(map[string]any)
		if !ok || !isMap || seen[p] || depth > maxDepth || len(seen) >= maxExpanded {
			return
		}
		seen[p] = true
		f(p, m)
		if target, ok := refTarget(m); ok {
			visit(target, depth+1)
		}
		for _, key := range through {
			for i := range branches(m, key) {
				visit(branch(p, key, i), depth+1)
			}
			if _, ok := m[key].(map[string]any); ok {
				visit(p+"/"+key, depth+1)
			}
		}
	}
	visit(pointer, 0)
}

// refTarget returns the pointer that a local $ref of m names; ok is false if m
// has none.
func refTarget(m map[string]any) (string, bool) {
	ref, ok := m["$ref"].(string)
	if ref = strings.TrimPrefix(ref, base); !ok || ref == "" || ref[0] != '#' || len(ref) > 1 && ref[1] != '/' {
		return "", false
	}
	return unescapeFragment(ref[1:])
}

func unescapeFragment(fragment string) (string, bool) {
	p, err := url.PathUnescape(fragment)
	return p, err == nil
}
