package match

import (
	"regexp"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Program returns a jq program that selects the value at a JSON pointer into msg, and the last name in the pointer.
func Program(msg []byte, pointer string) (program, last string) {
	var b strings.Builder
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name := scan.Unescape(step)
		kind := scan.Type(msg)
		msg = scan.At(msg, "/"+step)
		switch {
		case kind == 'a':
			b.WriteString("[" + name + "]")
			continue
		case wire.IsName(name):
			b.WriteString("." + name)
		default:
			b.WriteString(".[" + string(scan.AppendQuoted(nil, name)) + "]")
		}
		last = name
	}
	return b.String(), last
}

// steps matches one step of a path: a name, an index, or a name in quotes.
var steps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z0-9_]*)|\.?\[([0-9]+|"(?:[^"\\]|\\.)*")\])`)
})

// PointerOf returns the JSON pointer to the value that a jq program selects. It returns false unless the program is a
// path such as .a[0]["b c"].
func PointerOf(program string) (string, bool) {
	var path []string
	for rest := strings.TrimSpace(program); rest != ""; {
		m := steps().FindStringSubmatch(rest)
		if m == nil {
			return "", false
		}
		step := m[1] + m[2]
		if text, quoted := scan.Text([]byte(step)); quoted {
			step = text
		}
		path, rest = append(path, step), rest[len(m[0]):]
	}
	return pointer(path), path != nil
}
