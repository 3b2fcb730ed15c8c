package scan

import (
	"encoding/json"
	"iter"
	"strconv"
)

// Members iterates over the members of obj: each key without quotes but with escapes (Key decodes it), and its value. It
// yields nothing if obj is not an object. obj must be valid; Members stops at invalid bytes.
func Members(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, val []byte) bool) {
		c := ReadObject(obj, trusted)
		for key, val, ok := c.Next(); ok && yield(key, val); key, val, ok = c.Next() {
		}
	}
}

// Named is like Members, but decodes the keys.
func Named(obj []byte) iter.Seq2[string, []byte] {
	return func(yield func(name string, val []byte) bool) {
		c := ReadObject(obj, trusted)
		for key, val, ok := c.Next(); ok && yield(Key(key), val); key, val, ok = c.Next() {
		}
	}
}

// Elements iterates over the elements of array. It yields nothing if array is not an array. array must be valid; Elements
// stops at invalid bytes.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(val []byte) bool) {
		c := ReadArray(array, trusted)
		for _, val, ok := c.Next(); ok && yield(val); _, val, ok = c.Next() {
		}
	}
}

// Parts iterates over the members of an object or the elements of an array: the name or the index, and the value. It yields nothing
// for other values. val must be valid, without blanks at the start.
func Parts(val []byte) iter.Seq2[string, []byte] {
	if Type(val) == 'o' {
		return Named(val)
	}
	return func(yield func(step string, val []byte) bool) {
		i := 0
		for part := range Elements(val) {
			if !yield(strconv.Itoa(i), part) {
				return
			}
			i++
		}
	}
}

// List returns the elements of array, or nil.
func List(array []byte) (list []json.RawMessage) {
	for val := range Elements(array) {
		list = append(list, val)
	}
	return list
}

// Count returns the number of members or elements of val, or 0 for other values.
func Count(val []byte) (n int) {
	for range Members(val) {
		n++
	}
	for range Elements(val) {
		n++
	}
	return n
}

// First returns the first element of array, or nil.
func First(array []byte) []byte {
	for val := range Elements(array) {
		return val
	}
	return nil
}

// Only returns the only element of an array, or nil if it has more or fewer.
func Only(array []byte) []byte {
	if Count(array) != 1 {
		return nil
	}
	return First(array)
}
