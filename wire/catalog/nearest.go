package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the name in names that is similar to an unknown one, or "" if none is. Among equally similar names,
// it returns the one with the longest common prefix.
func Nearest(name string, names []string) string {
	if name == "" || len(name) > 128 || slices.Contains(names, name) {
		return ""
	}
	near := func(d int, n string) bool {
		return d*3 <= max(utf8.RuneCountInString(name), utf8.RuneCountInString(n))+1
	}
	return cmp.Or(closest(name, names, near), completed(name, names))
}

// DidYouMean returns a question that suggests the most similar of names, or "".
func DidYouMean(name string, names []string) string {
	if near := Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// IsTypo reports whether a word differs from a name by at most one typing error.
func IsTypo(word, name string) bool { return distance(plain(word), plain(name)) <= 1 }

// Closest returns the most similar of a few candidates, one of which was probably meant. It returns "" if all are very
// different.
func Closest(name string, names []string) string {
	if near := Nearest(name, names); near != "" || len(name) > 128 {
		return near
	}
	return closest(name, names, func(d int, n string) bool { return d*2 <= max(len(plain(name)), len(plain(n))) })
}

// closest returns the most similar name for which near is true.
func closest(name string, names []string, near func(distance int, n string) bool) string {
	best, bestDistance, bestPrefix := "", 1<<30, 0
	for _, n := range names {
		if n == "" || len(n) > 128 {
			continue
		}
		a, b := plain(name), plain(n)
		d, prefix := distance(a, b), 0
		for prefix < min(len(a), len(b)) && a[prefix] == b[prefix] {
			prefix++
		}
		if near(d, n) && (d < bestDistance || d == bestDistance && prefix > bestPrefix) {
			best, bestDistance, bestPrefix = n, d, prefix
		}
	}
	return best
}

// completed returns the name in names that begins with name if there is exactly one, or "".
func completed(name string, names []string) string {
	found := ""
	for _, n := range names {
		if len(name) < 3 || !strings.HasPrefix(plain(n), plain(name)) {
			continue
		}
		if found != "" {
			return ""
		}
		found = n
	}
	return found
}

// plain removes the most frequent differences: case and separators.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// distance counts the letters that must be inserted, removed, replaced, or swapped with their neighbor to turn a into
// b.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		row[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
