package jq

import (
	"bytes"
	"cmp"
	"strconv"

	"rpcx/wire/scan"
)

// orderOf returns the order of values of different types.
var orderOf = [256]int8{'0': 0, 'f': 1, 't': 2, 'n': 3, 's': 4, 'a': 5, 'o': 6}

// compare is gojq.Compare for the JSON of two values; ok is false if both are arrays or both are objects.
func compare(a, b []byte) (order int, ok bool) {
	kind, other := scan.Type(a), scan.Type(b)
	switch {
	case kind != other:
		return cmp.Compare(orderOf[kind], orderOf[other]), true
	case kind == 'n':
		return compareNumbers(a, b), true
	case kind == 's':
		return bytes.Compare(words(a), words(b)), true
	}
	return 0, kind != 'o' && kind != 'a'
}

// compareNumbers compares whole numbers exactly, others as float64.
func compareNumbers(a, b []byte) int {
	if bytes.ContainsAny(a, ".eE") || bytes.ContainsAny(b, ".eE") {
		return cmp.Compare(float(a), float(b))
	}
	a, below := bytes.CutPrefix(a, minus)
	b, alsoBelow := bytes.CutPrefix(b, minus)
	order := cmp.Compare(len(a), len(b))
	if order == 0 {
		order = bytes.Compare(a, b)
	}
	switch {
	case below && alsoBelow:
		return -order
	case below != alsoBelow && a[0] == '0' && b[0] == '0': // 0 and -0
		return 0
	case below:
		return -1
	case alsoBelow:
		return 1
	}
	return order
}

var minus = []byte("-")

// float returns the value of a number, or infinity if it is too large.
func float(val []byte) float64 {
	f, _ := strconv.ParseFloat(string(val), 64)
	return f
}
