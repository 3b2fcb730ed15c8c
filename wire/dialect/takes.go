package dialect

import "strings"

// Takes reports whether a Watch takes messages of a method: its Method holds the
// names that are taken, one a line, in which * stands for any run of characters. ""
// takes all messages, those without a method, too.
func (op *Op) Takes(method string) bool {
	if op.Method == "" || op.Method == method {
		return true
	}
	for name := range strings.SplitSeq(op.Method, "\n") {
		if matches(name, method) {
			return true
		}
	}
	return false
}

// matches reports whether the parts of pattern between its stars follow each other in
// name, the first at its start and the last at its end.
func matches(pattern, name string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, first)
	if !ok || !star {
		return ok && name == ""
	}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], more
	}
}
