package scan

import (
	"encoding/json"
	"iter"
)

// Members goes through the members of obj: each key as it stands between its
// quotes, with escapes as they are (Key undoes them), and its value. Of anything
// but an object there are none. obj is trusted to be valid; broken bytes end it.
func Members(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, val []byte) bool) {
		c := ReadObject(obj, trusted)
		for key, val, ok := c.Next(); ok && yield(key, val); key, val, ok = c.Next() {
		}
	}
}

// Named is Members with the keys' escapes undone.
func Named(obj []byte) iter.Seq2[string, []byte] {
	return func(yield func(name string, val []byte) bool) {
		c := ReadObject(obj, trusted)
		for key, val, ok := c.Next(); ok && yield(Key(key), val); key, val, ok = c.Next() {
		}
	}
}

// Elements goes through the elements of array; of anything else there are none.
// array is trusted to be valid; broken bytes end it.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(val []byte) bool) {
		c := ReadArray(array, trusted)
		for _, val, ok := c.Next(); ok && yield(val); _, val, ok = c.Next() {
		}
	}
}

// List is Elements as a slice; nil where there are none.
func List(array []byte) (list []json.RawMessage) {
	for val := range Elements(array) {
		list = append(list, val)
	}
	return list
}

// Count returns how many members an object or elements an array has; 0 for any
// other value.
func Count(val []byte) (n int) {
	for range Members(val) {
		n++
	}
	for range Elements(val) {
		n++
	}
	return n
}

// First returns the first element of array; nil where there is none.
func First(array []byte) []byte {
	for val := range Elements(array) {
		return val
	}
	return nil
}

// Sole returns the only element of array; nil where there is none or another.
func Sole(array []byte) []byte {
	if Count(array) != 1 {
		return nil
	}
	return First(array)
}
