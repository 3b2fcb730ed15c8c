package declared

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire/scan"
)

// excerpt returns a small document to compile: raw, the schema at pointer, and the $defs that it needs, each at its
// place in the catalog. Compiling takes time proportional to the document, and a catalog can have thousands of schemas.
// If the schema refers to other places, excerpt returns the whole catalog.
func (k *Checker) excerpt(pointer string, raw json.RawMessage) json.RawMessage {
	used := map[string]bool{}
	parts := strings.Split(pointer, "/")
	if len(parts) < 3 || !k.needs(raw, used) {
		return k.doc
	}
	var doc, defs scan.Object
	switch {
	case parts[1] == "$defs":
		used[scan.Unescape(parts[2])] = true
	case parts[1] == "methods":
		i, err := strconv.Atoi(parts[2])
		if err != nil || i >= len(k.methods) {
			return k.doc
		}
		doc.Add("methods", slices.Concat([]byte("["+strings.Repeat("0,", i)), k.methods[i], []byte("]")))
	default:
		return k.doc
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if k.catalog.Defs[name] != nil {
			defs.Add(name, k.catalog.Defs[name])
		}
	}
	doc.Add("$defs", defs.End())
	return doc.End()
}

// needs adds to used the names of the $defs that a schema needs, directly or through other $defs. It returns false if a
// reference leads to another place.
func (k *Checker) needs(in []byte, used map[string]bool) bool {
	switch scan.Type(in) {
	case 'a':
		for v := range scan.Elements(in) {
			if !k.needs(v, used) {
				return false
			}
		}
	case 'o':
		for key, val := range scan.Named(in) {
			if !k.reference(key, val, used) {
				return false
			}
		}
	}
	return true
}

// reference is needs for one member of a schema.
func (k *Checker) reference(key string, val []byte, used map[string]bool) bool {
	switch key {
	case "$ref":
		name, ok := strings.CutPrefix(scan.String(val), "#/$defs/")
		if !ok {
			return false
		}
		name, _, _ = strings.Cut(name, "/")
		if name = scan.Unescape(name); used[name] {
			return true
		}
		used[name] = true
		return k.needs(k.catalog.Defs[name], used)
	case "$id", "id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef":
		if scan.Type(val) == 's' {
			return false
		}
	}
	return k.needs(val, used)
}
