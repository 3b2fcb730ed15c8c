package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"

	"rpcx/wire/scan"
)

// A source stores the texts of the objects and arrays in the input of a run. A value that a program only selects is
// output as the same Go value, because programs never change values. Its original text is then printed, which preserves
// the order of keys. The zero value is ready for use. A nil source stores nothing.
type source struct {
	spans []span
	at    map[uintptr]span // spans by id, from the first search on
}

// A span is the text of an object or array in the input.
type span struct {
	id     uintptr // the address of the map or of the first element
	raw    []byte
	length int // the length of an array, because another slice can begin with the same element
}

// sourceKey is the context key with which Funcs find the source of their run.
type sourceKey struct{}

// EncodeArg is like Encode, but for an argument of a Func. ctx is the context that its Call received. A value that the
// program only selected keeps its original text.
func EncodeArg(ctx context.Context, v any) json.RawMessage {
	src, _ := ctx.Value(sourceKey{}).(*source)
	return src.encode(v)
}

// add stores the text of v. It omits empty values, because their texts do not differ.
func (s *source) add(v any, raw []byte) {
	if s == nil {
		return
	}
	if id, n := identity(v); n > 0 {
		s.spans = append(s.spans, span{id, raw, n})
	}
}

// identity returns the address and the length of a map or slice, which identify it as long as it exists. Both are 0 for
// other values. The map or slice must not be empty.
func identity(v any) (id uintptr, length int) {
	switch v := v.(type) {
	case map[string]any:
		return reflect.ValueOf(v).Pointer(), len(v)
	case []any:
		return reflect.ValueOf(v).Pointer(), len(v)
	}
	return 0, 0
}

// find returns the original text of v, or nil if the program created v.
func (s *source) find(v any) []byte {
	id, n := identity(v)
	if n == 0 || s == nil || len(s.spans) == 0 {
		return nil
	}
	if s.at == nil {
		s.at = make(map[uintptr]span, len(s.spans))
		for _, p := range s.spans {
			s.at[p.id] = p
		}
	}
	if p := s.at[id]; p.length == n {
		return p.raw
	}
	return nil
}

// encode returns the compact JSON of v. Parts of the input keep their original text, and objects that the program
// created have sorted keys.
func (s *source) encode(v any) json.RawMessage { return s.append(nil, v) }

func (s *source) append(b []byte, v any) []byte {
	if raw := s.find(v); raw != nil {
		return scan.Minify(b, raw)
	}
	switch v := v.(type) {
	case nil:
		return append(b, null...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case json.Number:
		return append(b, v...)
	case string:
		return appendText(b, v)
	case map[string]any:
		return s.appendObject(b, v)
	case []any:
		return s.appendArray(b, v)
	}
	text, err := gojq.Marshal(v)
	if err != nil {
		panic(err) // it panics itself if v is no value of jq
	}
	return append(b, text...)
}

// appendText appends a string as gojq would print it.
func appendText(b []byte, s string) []byte {
	start := len(b)
	b = append(append(slices.Grow(b, len(s)+2), '"'), s...)
	text := b[start+1:]
	if scan.IsASCII(text) && bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, '\\') < 0 && bytes.IndexByte(text, 0x7f) < 0 {
		return append(b, '"')
	}
	quoted, _ := gojq.Marshal(s)
	return append(b[:start], quoted...)
}

func (s *source) appendObject(b []byte, m map[string]any) []byte {
	b = append(b, '{')
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.append(append(appendText(b, k), ':'), m[k])
	}
	return append(b, '}')
}

func (s *source) appendArray(b []byte, a []any) []byte {
	b = append(b, '[')
	for i, v := range a {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.append(b, v)
	}
	return append(b, ']')
}
