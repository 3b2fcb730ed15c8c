package match

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// Compare compares got with the recorded message want. The differences have no line numbers. They are in the order of the members of
// want. Members that only got has come last. method is the method of the message or, for a response, of its request. A redacted value
// matches any other value.
func (r *Rules) Compare(method string, want, got []byte, values *Values) (found []Difference) {
	w := walk{each: func(path []string, want, got []byte) {
		if !r.mayDiffer(method, path, want, got, values) {
			found = append(found, Difference{Kind: Differs, Method: method, Pointer: pointer(path), Want: want, Got: got})
		}
	}}
	w.pair(want, got)
	if len(found) > 1 {
		found = r.aligned(method, want, got, values, found)
	}
	if len(found) == 0 || len(r.ignore) == 0 {
		return found
	}
	skipWant, skipGot := r.ignored(want), r.ignored(got)
	return slices.DeleteFunc(found, func(d Difference) bool {
		return covered(skipWant, d.Pointer) || covered(skipGot, d.Pointer)
	})
}

// mayDiffer reports whether the values at path may differ without being a difference.
func (r *Rules) mayDiffer(method string, path []string, want, got []byte, values *Values) bool {
	if want != nil && got != nil {
		if live, ok := values.live(want); ok && scan.Equal([]byte(live), got) {
			return true
		}
		if at(r.generated, method, path) || values.opens(path, want) {
			return true
		}
		if n := len(path); n > 0 && varying(path[n-1], want, got) {
			return true
		}
	}
	return at(r.varies, method, path)
}

// covered reports whether set contains pointer, or the pointer to a value that encloses it.
func covered(set map[string]bool, pointer string) bool {
	for {
		if set[pointer] {
			return true
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return false
		}
		pointer = pointer[:i]
	}
}

// A walk traverses two messages in parallel. It calls each for every pair of values that are not equal: scalars, values of different
// types, and values without a counterpart, which is nil.
type walk struct {
	path []string // the path to the current pair; each must not keep it
	each func(path []string, want, got []byte)
	// redacted is called with each pair in which one value is the placeholder of a secret. It may be nil.
	redacted func(want, got []byte)
}

func (w *walk) pair(want, got []byte) {
	want, got = scan.Trim(want), scan.Trim(got)
	if bytes.Equal(want, got) {
		return
	}
	if isRedacted(want) || isRedacted(got) {
		if w.redacted != nil {
			w.redacted(want, got)
		}
		return
	}
	switch kind := scan.Type(want); {
	case kind != scan.Type(got):
	case kind == 'o':
		w.objects(want, got)
		return
	case kind == 'a':
		w.arrays(want, got)
		return
	case scan.Equal(want, got):
		return
	}
	w.each(w.path, want, got)
}

func isRedacted(val []byte) bool {
	_, is := redact.IsMarked(val)
	return is
}

func pointer(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteString("/" + scan.Escape(step))
	}
	return b.String()
}

func (w *walk) inside(step string, want, got []byte) {
	w.path = append(w.path, step)
	if want == nil || got == nil {
		w.each(w.path, want, got)
	} else {
		w.pair(want, got)
	}
	w.path = w.path[:len(w.path)-1]
}

func (w *walk) objects(want, got []byte) {
	mine, theirs := members(want), members(got)
	for _, obj := range [][]byte{want, got} {
		for name := range scan.Named(obj) {
			one, two := mine[name], theirs[name]
			if one != nil || two != nil { // this is the first occurrence of the name
				delete(mine, name)
				delete(theirs, name)
				w.inside(name, one, two)
			}
		}
	}
}

// members returns the values of an object's members. If a member is repeated, the last value counts, as in decoders.
func members(obj []byte) map[string][]byte { return maps.Collect(scan.Named(obj)) }

func (w *walk) arrays(want, got []byte) {
	x, y := scan.ReadArray(want, wire.DefaultMaxDepth+1), scan.ReadArray(got, wire.DefaultMaxDepth+1)
	for i := 0; ; i++ {
		_, one, _ := x.Next()
		_, two, _ := y.Next()
		if one == nil && two == nil {
			return
		}
		w.inside(strconv.Itoa(i), one, two)
	}
}
