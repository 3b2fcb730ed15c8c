package match

import (
	"slices"
	"strconv"
	"strings"

	"rpcx/wire/scan"
)

// maxAligned is the maximum length of an array in which rpcx searches for moved elements. Equal elements at both ends
// do not count.
const maxAligned = 64

// aligned reduces the number of differences in found. A renamed member, or an array element that was added, removed or
// moved, becomes a single difference. It replaces the differences of all members and elements that are displaced by it.
func (r *Rules) aligned(method string, want, got []byte, values *Values, found []Difference) []Difference {
	a := aligner{rules: r, method: method, values: values, found: found}
	a.value(nil, want, got)
	return a.found
}

type aligner struct {
	rules  *Rules
	method string
	values *Values
	found  []Difference
}

// below returns the number of differences at or below a pointer.
func (a *aligner) below(pointer string) (n int) {
	for _, d := range a.found {
		if d.Pointer == pointer || strings.HasPrefix(d.Pointer, pointer+"/") {
			n++
		}
	}
	return n
}

func (a *aligner) value(path []string, want, got []byte) {
	want, got = scan.Trim(want), scan.Trim(got)
	kind := scan.Type(want)
	if kind != scan.Type(got) || kind != 'o' && kind != 'a' || a.below(pointer(path)) < 2 {
		return
	}
	if kind == 'a' {
		a.array(path, want, got)
		return
	}
	a.renamed(path, want, got)
	there := members(got)
	for key, part := range scan.Named(want) {
		if other := there[key]; other != nil {
			a.value(append(path, key), part, other)
		}
	}
}

// renamed finds two members with the same value, one only in want and the other only in got, and replaces their two
// differences with one.
func (a *aligner) renamed(path []string, want, got []byte) {
	mine, theirs := members(want), members(got)
	for name, val := range scan.Named(want) {
		if theirs[name] != nil || len(val) < 1 {
			continue
		}
		for other, same := range scan.Named(got) {
			if mine[other] != nil || !a.equal(append(path, name), val, same) || !a.has(append(path, name)) || !a.has(append(path, other)) {
				continue
			}
			from, to := append(path, name), append(path, other)
			a.replace(pointer(to))
			a.replace(pointer(from), Difference{Want: val, Got: same, Text: "renamed to " + other, Moved: &Moved{pointer(to), got}, Pointer: pointer(from)})
			break
		}
	}
}

// has reports whether there is a difference at path itself.
func (a *aligner) has(path []string) bool {
	at := pointer(path)
	return slices.ContainsFunc(a.found, func(d Difference) bool { return d.Pointer == at && !d.renamed() })
}

// replace replaces the differences at or below a pointer with all.
func (a *aligner) replace(pointer string, all ...Difference) {
	var kept []Difference
	for _, d := range a.found {
		if d.Pointer == pointer || strings.HasPrefix(d.Pointer, pointer+"/") {
			kept = append(kept, all...)
			all = nil
			continue
		}
		kept = append(kept, d)
	}
	a.found = kept
}

func (a *aligner) equal(path []string, want, got []byte) bool {
	equal := true
	w := walk{path: append([]string(nil), path...), each: func(path []string, want, got []byte) {
		equal = equal && a.rules.mayDiffer(a.method, path, want, got, a.values)
	}}
	w.pair(want, got)
	return equal
}

// array searches for elements that were added, removed or moved. It uses the result only if that has fewer differences.
func (a *aligner) array(path []string, want, got []byte) {
	x, y := slices.Collect(scan.Elements(want)), slices.Collect(scan.Elements(got))
	at := func(i int) []string { return append(path[:len(path):len(path)], strconv.Itoa(i)) }
	from, m, n := a.middle(at, x, y)
	var moves []Difference
	if max(m, n)-from <= maxAligned {
		moves = a.moves(at, from, x[from:m], y[from:n])
	}
	alone := 0 // how many additions or removals there are, without moves
	for _, d := range moves {
		if !d.renamed() {
			alone++
		}
	}
	if moves == nil || alone != max(m-n, n-m) || len(moves) >= a.below(pointer(path)) {
		for i := from; i < min(len(x), len(y), from+maxAligned); i++ {
			a.value(at(i), x[i], y[i])
		}
		return
	}
	for i := range moves {
		d := &moves[i]
		d.Kind, d.Method = Differs, a.method
		if d.Moved == nil {
			d.Moved = &Moved{}
		}
		d.Moved.Around = got
	}
	a.replace(pointer(path), moves...)
}

// middle returns the bounds of the part of x and y that remains when equal elements at both ends are left out.
func (a *aligner) middle(at func(i int) []string, x, y [][]byte) (from, m, n int) {
	for from < len(x) && from < len(y) && a.equal(at(from), x[from], y[from]) {
		from++
	}
	m, n = len(x), len(y)
	for m > from && n > from && a.equal(at(m-1), x[m-1], y[n-1]) {
		m, n = m-1, n-1
	}
	return from, m, n
}

// moves returns the smallest set of differences that turns x into y: elements that were removed from x and elements that were added
// in y. An element that was both removed and added counts as moved. Both slices begin at index from of their arrays.
func (a *aligner) moves(at func(i int) []string, from int, x, y [][]byte) (all []Difference) {
	place := func(i int) string { return pointer(at(from + i)) }
	same := func(want, got []byte) bool { return a.equal(at(0), want, got) }
	least := unmatched(x, y, same)
	var added []int
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && same(x[i], y[j]):
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && least[i+1][j] <= least[i][j+1]:
			all = append(all, Difference{Pointer: place(i), Want: x[i]})
			i++
		default:
			added = append(added, j)
			j++
		}
	}
	for _, j := range added {
		n := slices.IndexFunc(all, func(d Difference) bool { return d.Got == nil && same(d.Want, y[j]) })
		if n < 0 {
			all = append(all, Difference{Pointer: place(j), Got: y[j]})
			continue
		}
		all[n].Got, all[n].Moved, all[n].Text = y[j], &Moved{To: place(j)}, "moved to "+place(j)
	}
	return all
}

// unmatched returns, for each i and j, the smallest number of elements of x[i:] and y[j:] that have no counterpart.
func unmatched(x, y [][]byte, same func(want, got []byte) bool) [][]int {
	least := make([][]int, len(x)+1)
	for i := len(x); i >= 0; i-- {
		least[i] = make([]int, len(y)+1)
		for j := len(y); j >= 0; j-- {
			switch {
			case i == len(x):
				least[i][j] = len(y) - j
			case j == len(y):
				least[i][j] = len(x) - i
			case same(x[i], y[j]):
				least[i][j] = least[i+1][j+1]
			default:
				least[i][j] = 1 + min(least[i+1][j], least[i][j+1])
			}
		}
	}
	return least
}
