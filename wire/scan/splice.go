package scan

import (
	"bytes"
	"strconv"
)

// Splice returns a copy of obj with val as the value of member key. It replaces the first such member or, if there is
// none, inserts one at the start. In an array, it replaces the element at that index. obj must be valid.
func Splice(obj []byte, key string, val []byte) []byte {
	m := ReadObject(obj, trusted)
	for k, old, ok := m.Next(); ok; k, old, ok = m.Next() {
		if IsKey(k, key) {
			out := make([]byte, 0, len(obj)-len(old)+len(val))
			out = append(out, obj[:m.i-len(old)]...)
			out = append(out, val...)
			return append(out, obj[m.i:]...)
		}
	}
	start := Skip(obj, 0)
	switch {
	case start < len(obj) && obj[start] == '[':
		return spliceElement(obj, key, val)
	case start >= len(obj) || obj[start] != '{':
		return bytes.Clone(obj)
	}
	out := make([]byte, 0, len(obj)+len(key)+len(val)+8)
	out = append(out, obj[:start+1]...)
	out = AppendQuoted(out, key)
	out = append(out, ':')
	out = append(out, val...)
	if rest := Skip(obj, start+1); rest < len(obj) && obj[rest] != '}' {
		out = append(out, ',')
	}
	return append(out, obj[start+1:]...)
}

// spliceElement is like Splice, but for an array.
func spliceElement(array []byte, key string, val []byte) []byte {
	at, err := strconv.Atoi(key)
	if err != nil {
		return bytes.Clone(array)
	}
	out := AppendArray(make([]byte, 0, len(array)+len(val)))
	for old := range Elements(array) {
		if at == 0 {
			old = val
		}
		out.Add(old)
		at--
	}
	return out.End()
}

// Rebuild appends val, an object or array with at most depth levels of nesting, to b. For each part, it calls one to
// append the part. The arguments of one are b, the index of the part, its key as yielded by Members (nil in an array),
// and its value. Rebuild keeps the keys and removes blanks between parts. It returns the error of one, or an *Error if
// val is invalid.
func Rebuild(b, val []byte, depth int, one func(b []byte, i int, key, part []byte) ([]byte, error)) ([]byte, error) {
	parts, ends := ReadArray(val, depth), "[]"
	if Type(val) == 'o' {
		parts, ends = ReadObject(val, depth), "{}"
	}
	b = append(b, ends[0])
	i := 0
	for key, part, ok := parts.Next(); ok; key, part, ok = parts.Next() {
		if i > 0 {
			b = append(b, ',')
		}
		if ends == "{}" {
			b = append(b, '"')
			b = append(b, key...)
			b = append(b, '"', ':')
		}
		var err error
		if b, err = one(b, i, key, part); err != nil {
			return nil, err
		}
		i++
	}
	if err := parts.Err(); err != nil {
		return nil, err
	}
	return append(b, ends[1]), nil
}
