package dialect

import "strings"

// Takes reports whether a Watch shows messages of a method. The Watch's Method lists the wanted names, one per line, in
// which * stands for any characters. "" accepts all messages, including those without a method.
func (op *Op) Takes(method string) bool {
	if op.Method == "" || op.Method == method {
		return true
	}
	for name := range strings.SplitSeq(op.Method, "\n") {
		if Matches(name, method) {
			return true
		}
	}
	return false
}

// Matches reports whether pattern, in which * stands for any characters, matches all of name. It is used for watches and for
// a server's policy.
func Matches(pattern, name string) bool {
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
