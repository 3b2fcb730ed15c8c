package catalog

import (
	"bytes"
	"encoding/json"
	"iter"
	"net/url"
	"strings"

	"rpcx/wire/scan"
)

// defsPrefix begins a $ref to one of the $defs.
const defsPrefix = "#/$defs/"

// DefRef returns the $ref of the definition with that name.
func DefRef(name string) string { return defsPrefix + url.PathEscape(scan.Escape(name)) }

// CutDef splits a $ref into the name of a definition and the pointer inside it. ok is false if ref does not refer to a
// definition.
func CutDef(ref string) (name, rest string, ok bool) {
	token, ok := strings.CutPrefix(ref, defsPrefix)
	if i := strings.IndexByte(token, '/'); i >= 0 {
		token, rest = token[:i], token[i:]
	}
	name, err := url.PathUnescape(token)
	return scan.Unescape(name), rest, ok && err == nil
}

// Refs yields the value of each $ref in a schema.
func Refs(schema []byte) iter.Seq[string] {
	return func(yield func(ref string) bool) {
		for start, end := range refsIn(schema) {
			if !yield(scan.String(schema[start:end])) {
				return
			}
		}
	}
}

// ChangeRefs returns a schema with the value of each $ref replaced.
func ChangeRefs(schema json.RawMessage, change func(ref string) string) json.RawMessage {
	var out []byte
	done := 0
	for start, end := range refsIn(schema) {
		out = append(out, schema[done:start]...)
		out = scan.AppendQuoted(out, change(scan.String(schema[start:end])))
		done = end
	}
	if done == 0 {
		return schema
	}
	return append(out, schema[done:]...)
}

// refsIn yields the start and the end of each string value of a "$ref". It scans once and without recursion, so that
// deep schemas are cheap.
func refsIn(schema []byte) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		isRef := false // the preceding string was a "$ref" key
		for at, end := 0, 0; ; at = end {
			next := bytes.IndexByte(schema[at:], '"')
			if next < 0 {
				return
			}
			start := at + next
			if end, _ = scan.Value(schema, start, 0); end <= start {
				return // not JSON
			}
			after := scan.Skip(schema, end)
			isKey := after < len(schema) && schema[after] == ':'
			if isRef && !isKey && !yield(start, end) {
				return
			}
			val := scan.Skip(schema, after+1)
			isRef = isKey && scan.IsKey(schema[start+1:end-1], "$ref") && val < len(schema) && schema[val] == '"'
		}
	}
}
