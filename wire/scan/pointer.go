package scan

import (
	"strconv"
	"strings"
)

// Escape returns a name as a JSON pointer (RFC 6901) has it between its
// slashes.
func Escape(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// Unescape returns the name that stands between the slashes of a JSON pointer.
func Unescape(token string) string {
	if !strings.Contains(token, "~") {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Below returns the JSON pointer of the i-th part, with its key as Members
// gives it, of the value at pointer.
func Below(pointer string, i int, key []byte) string {
	if key == nil {
		return pointer + "/" + strconv.Itoa(i)
	}
	return pointer + "/" + Escape(Key(key))
}
