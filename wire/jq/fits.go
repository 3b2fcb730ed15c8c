package jq

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/itchyny/gojq"
)

// Limits for one step of a foreign program. gojq checks its context only between steps, so a step whose result would be
// too large is refused before it runs.
const (
	maxStep    = 64 << 20 // bytes of a value that is copied, joined or printed
	maxParts   = 8 << 20  // bytes of a string that is split into characters
	maxMatched = 1 << 20  // bytes of a string that a regular expression is applied to
	maxIndex   = 1 << 20  // the index in an assignment to an array
	maxPairs   = 1 << 20  // comparisons between the elements of two arrays
)

var errStep = fmt.Errorf("one step needs more than %d MiB", maxStep>>20)

func withGuard() gojq.CompilerOption {
	return gojq.WithFunction(guardFunc, 1, 3, func(v any, args []any) any {
		how, _ := args[0].(string)
		var err error
		if len(args) == 3 {
			err = pairFits(how, args[1], args[2])
		} else {
			err = inputFits(how, v)
		}
		if err != nil {
			return err
		}
		return v
	})
}

// mostInput is the maximum size of the input of some steps; for all others, it is maxStep.
var mostInput = map[string]int{"parts": maxParts, "match": maxMatched}

func inputFits(how string, v any) error {
	switch how {
	case "never":
		return fmt.Errorf("this program cannot use fromstream or input")
	case "index":
		if !indexFits(v) {
			return fmt.Errorf("an index is beyond %d", maxIndex)
		}
		return nil
	case "transpose":
		return transposeFits(v)
	}
	return within(v, cmp.Or(mostInput[how], maxStep))
}

func pairFits(how string, left, right any) error {
	switch how {
	case "add":
		if size(left)+size(right) > maxStep {
			return errStep
		}
	case "multiply":
		return productFits(left, right)
	case "divide", "parts":
		return within(left, maxParts)
	case "join":
		parts, _ := left.([]any)
		text, _ := right.(string)
		if len(parts)*(len(text)+1) > maxStep {
			return errStep
		}
		return within(left, maxStep)
	case "subtract":
		if size(left)/wordSize*(size(right)/wordSize) > maxPairs {
			return errStep
		}
		fallthrough
	case "compare":
		if !nested(left) || !nested(right) {
			return nil
		}
		fallthrough
	default:
		return bothFit(left, right)
	}
	return nil
}

func bothFit(left, right any) error { return cmp.Or(within(left, maxStep), within(right, maxStep)) }

func productFits(left, right any) error {
	if text, ok := left.(string); ok {
		left, right = right, text
	}
	if text, ok := right.(string); ok {
		if n, ok := gojq.ToFloat64(left); ok && n*float64(len(text)) > maxStep {
			return errStep
		}
		return nil
	}
	if bits(left)+bits(right) > maxDigits*4 {
		return errHuge
	}
	if nested(left) && nested(right) { // objects are merged recursively
		return bothFit(left, right)
	}
	return nil
}

func bits(v any) int {
	if n, ok := v.(*big.Int); ok {
		return n.BitLen()
	}
	return 0
}

// indexFits reports whether an index or path v leads to an allowed place in an array.
func indexFits(v any) bool {
	if path, ok := v.([]any); ok {
		return !slices.ContainsFunc(path, func(step any) bool {
			if part, ok := step.(map[string]any); ok {
				return !indexFits(part["start"]) || !indexFits(part["end"])
			}
			return !indexFits(step)
		})
	}
	n, ok := gojq.ToFloat64(v)
	return !ok || n <= maxIndex
}

func transposeFits(v any) error {
	rows, _ := v.([]any)
	widest := 0
	for _, row := range rows {
		cells, _ := row.([]any)
		widest = max(widest, len(cells))
	}
	if widest*len(rows)*wordSize > maxStep {
		return errStep
	}
	return nil
}

// wordSize is the memory of a value in an array, in bytes.
const wordSize = 16

func nested(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// size returns the approximate size of v in bytes, without the sizes of its parts.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return wordSize * len(v)
	case map[string]any:
		return 4 * wordSize * len(v)
	}
	return 0
}

// within returns an error if v needs more than most bytes. A part that occurs several times is counted each time.
func within(v any, most int) error {
	if _, ok := count(v, most, 0); !ok {
		return errStep
	}
	return nil
}

// count returns how many bytes of left remain after v.
func count(v any, left, depth int) (int, bool) {
	if left -= size(v) + 1; left < 0 || depth > maxDepth {
		return 0, false
	}
	ok := true
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			if left, ok = count(part, left, depth+1); !ok {
				return 0, false
			}
		}
	case map[string]any:
		for key, part := range v {
			if left, ok = count(part, left-len(key), depth+1); !ok {
				return 0, false
			}
		}
	}
	return left, true
}
