package redact

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A Numbering replaces the strings of JSON that are secret by "…1", "…2" and so on, equal ones by the same, so that what is
// written still shows which are equal. Numbers and other values stay. It is not safe for concurrent use.
type Numbering struct {
	Sessions bool // a member sessionId is the protocol's own, and its value stays
	Last     int  // the number given last
	seen     map[string]int
	progress bool // the current message names a task by its token
}

// maxNumbered bounds the secrets that are remembered; a further one becomes "…", which equals any.
const maxNumbered = 1 << 16

// Mark returns what replaces a secret, as JSON.
func (n *Numbering) Mark(secret string) []byte {
	number, known := n.seen[secret]
	if !known && len(n.seen) < maxNumbered {
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

// MarkJSON is Mark for a value of any type.
func (n *Numbering) MarkJSON(val []byte) []byte {
	if text, ok := scan.Text(val); ok {
		return n.Mark(text)
	}
	return n.Mark(string(val))
}

// IsMark reports whether text is what replaces a secret, with or without a number; number is 0 without.
func IsMark(text string) (number int, is bool) {
	rest, is := strings.CutPrefix(text, Mark)
	if !is || rest == "" {
		return 0, is
	}
	number, err := strconv.Atoi(rest)
	return number, err == nil && number > 0 && rest[0] != '+'
}

// LastMark returns the greatest number of a mark in a message; 0: none.
func LastMark(msg []byte) (last int) {
	for rest := msg; ; {
		_, after, found := bytes.Cut(rest, []byte(`"`+Mark))
		if !found {
			return last
		}
		digits := 0
		for digits < len(after) && after[digits] >= '0' && after[digits] <= '9' {
			digits++
		}
		number, _ := strconv.Atoi(string(after[:digits]))
		last, rest = max(last, number), after
	}
}

// JSON returns msg, which is valid, without its secrets.
func (n *Numbering) JSON(msg []byte) []byte {
	method, _ := scan.Text(scan.Get(msg, "method"))
	n.progress = method == "$/progress" || strings.HasPrefix(method, "window/workDoneProgress/") // of the Language Server Protocol
	return n.value(nil, msg, false)
}

// value appends val. secret reports that its name is that of a secret.
func (n *Numbering) value(b, val []byte, secret bool) []byte {
	kind := scan.Type(val)
	if kind == 's' {
		if text, _ := scan.Text(val); text != "" && (secret || isSecret(text)) {
			return append(b, n.Mark(text)...)
		}
		return append(b, val...)
	}
	if kind != 'o' && kind != 'a' {
		return append(b, val...)
	}
	pair := pairOf(val)
	out, err := scan.Rebuild(b, val, wire.DefaultMaxDepth+1, func(b []byte, i int, key, part []byte) ([]byte, error) {
		name := ""
		if key != nil {
			name = scan.Key(key)
		}
		return n.value(b, part, secret || n.named(name) || pair && (name == "value" || key == nil && i == 1)), nil
	})
	if err != nil {
		return append(b, val...)
	}
	return out
}

// named reports whether the value of a member is secret.
func (n *Numbering) named(name string) bool {
	return SecretMember(name) && !(n.progress && name == "token") && !(n.Sessions && plainName(name) == "sessionid")
}

// pairOf reports whether val is the name and the value of a secret: {"name":"…","value":"…"}, or an array of a header's name
// and its value.
func pairOf(val []byte) bool {
	if scan.Type(val) == 'a' {
		var parts []string
		for part := range scan.Elements(val) {
			text, ok := scan.Text(part)
			if parts = append(parts, text); !ok || len(parts) > 2 {
				return false
			}
		}
		return len(parts) == 2 && isHeader(parts[0])
	}
	if scan.Type(scan.Get(val, "value")) != 's' {
		return false
	}
	for _, member := range []string{"name", "key", "header"} {
		if name, ok := scan.Text(scan.Get(val, member)); ok && SecretMember(name) {
			return true
		}
	}
	return false
}

// isHeader reports whether a text is the name of a header with a secret, rather than a word.
func isHeader(name string) bool {
	plain := plainName(name)
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r != '-' && !wordByte(byte(min(r, 255))) }) || !wordByte(name[0]) || name[0] == '-' {
		return false
	}
	return SecretName(name) && (strings.Contains(name, "-") || plain == "authorization" || plain == "cookie")
}

// members are names, as plainName spells them, of secrets in messages alone: in other places they are words.
var members = map[string]bool{"sessionid": true, "pin": true, "cvv": true, "cvc": true, "signature": true}

// SecretMember is SecretName for a member of a message.
func SecretMember(name string) bool { return SecretName(name) || members[plainName(name)] }

// isSecret reports whether a string is, or contains, a secret.
func isSecret(text string) bool {
	b := []byte(text)
	return holdsSecret(b) || Known(text) != text || assigned(b) || headed(text) || nested(b)
}

// nested reports whether text is JSON with a secret in it.
func nested(text []byte) bool {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) < 2 || trimmed[0] != '{' && trimmed[0] != '[' || scan.Valid(trimmed, wire.DefaultMaxDepth) != nil {
		return false
	}
	n := Numbering{}
	_ = n.value(nil, trimmed, false)
	return n.Last > 0
}

// assigned reports whether text has NAME=VALUE with the name of a secret.
func assigned(text []byte) bool {
	for rest := text; ; {
		i := bytes.IndexByte(rest, '=')
		if i < 0 || i+1 >= len(rest) {
			return false
		}
		start := i
		for start > 0 && wordByte(rest[start-1]) {
			start--
		}
		if next := rest[i+1]; start < i && next != '=' && next != ' ' && SecretName(string(rest[start:i])) {
			return true
		}
		rest = rest[i+1:]
	}
}

// header matches a line of a header.
var header = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^([A-Za-z0-9-]+):[ \t]*\S`) })

// headed reports whether text has a line of a header with a secret.
func headed(text string) bool {
	if !strings.Contains(text, ":") {
		return false
	}
	for _, m := range header().FindAllStringSubmatch(text, -1) {
		if isHeader(m[1]) {
			return true
		}
	}
	return false
}

// Suspect reports whether a message may have a secret that its members' names do not show. It is fast, for messages that
// have none.
func Suspect(msg []byte) bool {
	return Telltale(msg) || assigned(msg) || bytes.Contains(msg, valueMember) && bytes.Contains(msg, nameMember) ||
		bytes.Contains(msg, innerKey) || headerWord(msg)
}

var (
	valueMember, nameMember = []byte(`"value"`), []byte(`":"`)
	innerKey                = []byte(`\":`)
	headerWords             = [][]byte{[]byte("uthorization"), []byte("ookie"), []byte("-Key"), []byte("-key"), []byte("-Token"), []byte("-token")}
)

func headerWord(msg []byte) bool {
	for _, word := range headerWords {
		if bytes.Contains(msg, word) {
			return true
		}
	}
	return false
}
