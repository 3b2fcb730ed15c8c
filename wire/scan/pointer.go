package scan

import (
	"strconv"
	"strings"
)

// Escape returns name as a token of a JSON pointer (RFC 6901).
func Escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// Unescape returns the name that a token of a JSON pointer stands for.
func Unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Descend returns the JSON pointer to a part of the value at pointer: to element i if key is nil, and otherwise to the
// member with that key, which is in the form that Members yields.
func Descend(pointer string, i int, key []byte) string {
	if key == nil {
		return pointer + "/" + strconv.Itoa(i)
	}
	return pointer + "/" + Escape(Key(key))
}

// Lookup returns the part of a decoded value that a JSON pointer refers to.
func Lookup(val any, pointer string) (any, bool) {
	if pointer == "" {
		return val, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = Unescape(token)
		switch in := val.(type) {
		case map[string]any:
			part, ok := in[token]
			if !ok {
				return nil, false
			}
			val = part
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			val = in[i]
		default:
			return nil, false
		}
	}
	return val, true
}

// Put returns val with part in place of the value at a JSON pointer, which must exist.
func Put[T ~[]byte](val T, pointer string, part T) T {
	for pointer != "" {
		i := strings.LastIndexByte(pointer, '/')
		part = T(Splice(At(val, pointer[:i]), Unescape(pointer[i+1:]), part))
		pointer = pointer[:i]
	}
	return part
}

// At returns the part of the JSON val that a JSON pointer refers to, or nil.
func At(val []byte, pointer string) []byte {
	switch {
	case pointer == "":
		return val
	case pointer[0] != '/':
		return nil
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = Unescape(token)
		if list := List(val); list != nil {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(list) {
				return nil
			}
			val = list[i]
			continue
		}
		val = Get(val, token)
	}
	return val
}
