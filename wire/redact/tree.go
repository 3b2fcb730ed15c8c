package redact

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A Numbering replaces the secret strings in JSON by "…1", "…2" and so on. Equal strings get equal replacements. Numbers
// and other values stay unchanged. It is not safe for concurrent use.
type Numbering struct {
	Sessions bool // sessionId is part of the protocol, so its value stays
	Last     int  // the last number
	plain    bool // replacements have no numbers
	seen     map[string]int
	progress bool // the current message identifies a task by its token
}

// maxNumbered is the maximum number of stored secrets. Each further secret becomes "…", which equals any string.
const maxNumbered = 1 << 16

// Mark returns a secret's replacement as JSON.
func (n *Numbering) Mark(secret string) []byte {
	number, known := n.seen[secret]
	if n.plain {
		n.Last++
	} else if !known && len(n.seen) < maxNumbered {
		if n.seen == nil {
			n.seen = map[string]int{}
		}
		n.Last++
		number = n.Last
		n.seen[secret] = number
	}
	if number == 0 {
		return scan.AppendQuoted(nil, Mark)
	}
	return scan.AppendQuoted(nil, Mark+strconv.Itoa(number))
}

// MarkJSON is like Mark, but for a value of any type.
func (n *Numbering) MarkJSON(val []byte) []byte {
	if text, ok := scan.Text(val); ok {
		return n.Mark(text)
	}
	return n.Mark(string(val))
}

// IsMark reports whether text replaces a secret. number is its number, or 0 if it has none.
func IsMark(text string) (number int, is bool) {
	rest, is := strings.CutPrefix(text, Mark)
	if !is || rest == "" {
		return 0, is
	}
	number, err := strconv.Atoi(rest)
	return number, err == nil && number > 0 && rest[0] != '+'
}

// IsMarked is like IsMark, but for a JSON value.
func IsMarked(val []byte) (number int, is bool) {
	if len(val) < len(quotedMark)+1 || !bytes.HasPrefix(val, quotedMark) {
		return 0, false
	}
	return IsMark(string(val[1 : len(val)-1]))
}

// MayHaveMark reports whether a replacement may be in msg. It is fast, and can be wrong only if it returns true.
func MayHaveMark(msg []byte) bool { return bytes.Contains(msg, quotedMark) }

var quotedMark = []byte(`"` + Mark)

// LastMark returns the greatest number of the replacements in a message, or 0.
func LastMark(msg []byte) (last int) {
	for {
		_, after, found := bytes.Cut(msg, quotedMark)
		if !found {
			return last
		}
		number, _ := strconv.Atoi(string(after[:while(after, 0, digit)]))
		last, msg = max(last, number), after
	}
}

// JSON returns msg, which must be valid JSON, without its secrets.
func (n *Numbering) JSON(msg []byte) []byte {
	method, _ := scan.Text(scan.Get(msg, "method"))
	n.progress = method == "$/progress" || strings.HasPrefix(method, "window/workDoneProgress/") // as in the Language Server Protocol
	return n.value(nil, msg, false)
}

// value appends val without its secrets. secret is true if the name of val is the name of a secret.
func (n *Numbering) value(b, val []byte, secret bool) []byte {
	switch scan.Type(val) {
	case 's':
		text, _ := scan.Text(val)
		if _, is := IsMark(text); text != "" && !is && (secret || HasSecret([]byte(text)) || Known(text) != text) {
			return append(b, n.Mark(text)...)
		}
	case 'o', 'a':
		hides := n.inside(val)
		out, err := scan.Rebuild(b, val, wire.DefaultMaxDepth+1, func(b []byte, i int, key, part []byte) ([]byte, error) {
			return n.value(b, part, hides(i, key, part) || secret), nil
		})
		if err == nil {
			return out
		}
	}
	return append(b, val...)
}

// inside returns a function that reports, for each part of an object or array in order, whether its name means a
// secret.
func (n *Numbering) inside(val []byte) func(i int, key, part []byte) bool {
	if scan.Type(val) == 'o' {
		beside := besideName(val)
		return func(_ int, key, part []byte) bool {
			name := scan.Key(key)
			return n.named(name, part) || beside && strings.EqualFold(name, "value")
		}
	}
	previous, even := "", isEven(val)
	return func(i int, _, part []byte) bool {
		before := previous
		previous, _ = scan.Text(part)
		return even && i%2 == 1 && isHeader(before) && !isFieldName(previous) || isOption(before) && !strings.HasPrefix(previous, "-")
	}
}

func (n *Numbering) named(name string, val []byte) bool {
	if !SecretMember(name) || n.progress && name == "token" {
		return false
	}
	text, _ := scan.Text(val)
	switch plainName(name) {
	case "sessionid":
		return !n.Sessions
	case "pin": // of a card, not of a device
		return while([]byte(text), 0, digit) == len(text)
	case "signature": // not of a function
		return !strings.ContainsAny(text, " (<:")
	case "authorizationcode", "clientcredentials": // flows of OAuth that a description lists
		return scan.Type(val) != 'o'
	}
	return scan.Type(val) != 'o' || !isSchema(val)
}

// isSchema reports whether an object is a JSON Schema.
func isSchema(val []byte) bool {
	for _, member := range []string{"$ref", "anyOf", "oneOf", "allOf", "enum", "properties"} {
		if scan.Get(val, member) != nil {
			return true
		}
	}
	if scan.Type(scan.Get(val, "value")) == 's' { // a value with its type
		return false
	}
	kind := scan.Get(val, "type")
	text, _ := scan.Text(kind)
	return scan.Type(kind) == 'a' || slices.Contains([]string{"string", "object", "array", "number", "integer", "boolean", "null"}, text)
}

// besideName reports whether an object contains a secret next to its name: {"name":"…","value":"…"}.
func besideName(val []byte) (is bool) {
	for key, part := range scan.Members(val) {
		switch name := strings.ToLower(scan.Key(key)); name {
		case "name", "key", "header":
			text, ok := scan.Text(part)
			is = is || ok && SecretMember(text)
		}
	}
	return is
}

// isEven reports whether an array consists of an even number of strings, such as names and values of headers.
func isEven(val []byte) bool {
	n := 0
	for part := range scan.Elements(val) {
		if n++; scan.Type(part) != 's' {
			return false
		}
	}
	return n%2 == 0
}

// isHeader reports whether a string is the name of a header that contains a secret, rather than ordinary text.
func isHeader(name string) bool {
	if name == "" || name[0] == '-' || while([]byte(name), 0, wordByte) < len(name) {
		return false
	}
	plain := plainName(name)
	return SecretName(name) && (strings.Contains(name, "-") || plain == "authorization" || plain == "cookie")
}

// isFieldName reports whether a string is the name of a header, rather than a value: words with hyphens between them.
func isFieldName(text string) bool {
	letters := func(c byte) bool { return tokenByte(c) && (c < '0' || c > '9') }
	if SecretName(text) && while([]byte(text), 0, letters) == len(text) {
		return true
	}
	words := strings.Split(text, "-")
	return len(words) > 1 && !slices.ContainsFunc(words, func(word string) bool {
		return len(word) == 0 || word[0] < 'A' || word[0] > 'Z' || strings.ToLower(word[1:]) != word[1:] || strings.ContainsAny(word, "0123456789")
	})
}

// isOption reports whether arg is an option whose argument is a secret.
func isOption(arg string) bool {
	name, ok := strings.CutPrefix(arg, "--")
	return ok && while([]byte(name), 0, tokenByte) == len(name) && SecretName(name)
}
