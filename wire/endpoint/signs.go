package endpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"rpcx/wire/dialect/all"
	"rpcx/wire/framing"
	"rpcx/wire/transport"
)

// A Sign recognises, by what a peer sends, that it speaks otherwise than its
// endpoint says, and says how.
type Sign struct {
	says    *regexp.Regexp // matches the first bytes, or the text of an error
	looks   func(first []byte) bool
	sure    bool   // nothing else looks like this, not even what a program prints at its start
	Dialect string // the right one; "": the endpoint's
	Framing string // the right one; "": the endpoint's
	Scheme  string // the right one; "": the endpoint's
}

// signs is the table of all signs. The first that fits counts.
var signs = sync.OnceValue(func() []Sign {
	says := func(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }
	list := []Sign{
		{says: says(`(?i)^\s*Content-Length: *\d+\r?\n`), sure: true, Framing: "header"},
		{says: says(`^\x1e\s*[\[{]`), sure: true, Framing: "seq"},
		{says: says(`^\s*[\[{][^\n]*[\]}]\s*\x00`), sure: true, Framing: "nul"},
		{says: says(`^\d{1,10}:\s*[\[{]`), Framing: "netstring"},
		{looks: varint, Framing: "varint"},
		{says: says(`^HTTP/1\.[01] |^(?i:<!doctype html)`), Scheme: "http"},
		{says: says("^\x15\x03"), Scheme: "tls"}, // a TLS alert: it expected TLS
		{says: says(`^\s*\{"QMP"|QMP input member`), Dialect: "qmp"},
		{says: says(`has property other than 'id', 'method'`), Dialect: "cdp"},
		{says: says(`has property other than 'id', 'method'`), Dialect: "jsonrpc1"},
		{says: says(`^\s*[\[{]`), Framing: "line"},
	}
	for _, s := range all.Specs() {
		if s.Sign != "" {
			list = append([]Sign{{says: says(s.Sign), Dialect: s.Name}}, list...)
		}
	}
	return list
})

// varint reports whether first is a message after its length as a varint. A length of one byte could be any character, so
// that it counts only if a message of that length follows it, and it is no white space.
func varint(first []byte) bool {
	size, n := binary.Uvarint(first)
	if n <= 0 || n >= len(first) || first[n] != '{' && first[n] != '[' {
		return false
	}
	if rest := first[n:]; size <= uint64(len(rest)) {
		return !strings.ContainsRune("\t\n\r ", rune(first[0])) && json.Valid(rest[:size])
	}
	return n > 1
}

// Shown returns the sign in said, which is what a peer of e sent first, or an
// error of it; nil if there is none, or if e says the same already. sure
// reports whether it can mean nothing else.
func (e Endpoint) Shown(said []byte) (sign *Sign, sure bool) {
	for _, s := range signs() {
		if s.fits(e) && (s.looks == nil || s.looks(said)) && (s.says == nil || s.says.Match(said)) {
			return &s, s.sure || len(e.Address.Command) == 0 && s.Dialect == ""
		}
	}
	return nil, false
}

// begins holds, by framing, the bytes with which messages begin. A framing that
// is missing here has no such bytes.
var begins = map[string]string{
	"line": "{[ \t\r\n", "nul": "{[ \t\r\n", "concat": "{[ \t\r\n", "header": "Cc", "seq": "\x1e", "netstring": "0123456789",
}

// Usual reports whether the first bytes of a peer of e look as they should, so
// that no sign need be looked for.
func (e Endpoint) Usual(said []byte) bool {
	if len(said) == 0 || !e.IsBytes() {
		return true
	}
	usual, known := begins[e.framing()]
	return !known || strings.IndexByte(usual, said[0]) >= 0 && (bytes.IndexByte(said, 0) < 0 || e.framing() == "nul")
}

// fits reports whether s names another way to speak with e's peer than e does.
func (s *Sign) fits(e Endpoint) bool {
	switch {
	case s.Dialect != "":
		return s.Dialect != e.Dialect && all.Has(s.Dialect)
	case s.Framing == "line" && e.framing() == "concat": // concat reads lines as well
		return false
	case s.Framing != "":
		return e.IsBytes() && s.Framing != e.framing()
	}
	return e.Address.Scheme == "tcp"
}

// TakesHeaders reports whether headers of the user's have a place: on the way, or before
// each message.
func (e Endpoint) TakesHeaders() bool {
	return transport.TakesHeaders(e.Address) || e.IsBytes() && framing.HasHead(e.framing())
}

// framing returns the name of e's framing, also if that is the default.
func (e Endpoint) framing() string {
	for _, name := range []string{e.Framing, e.Spec().Framing} {
		if name != "" {
			return name
		}
	}
	return framing.Names()[0]
}

// Prefix returns the words to put before the endpoint's transport, or in its
// place.
func (s *Sign) Prefix() string {
	switch {
	case s.Dialect != "":
		return s.Dialect + "+"
	case s.Framing != "":
		return s.Framing + "+"
	}
	return s.Scheme + "://"
}

// Respelt returns an endpoint, as a user typed it, changed to say what s shows.
func (s *Sign) Respelt(typed string) string {
	e, rest, err := prefixes(typed)
	if err != nil {
		return typed
	}
	if s.Dialect != "" {
		e.Dialect = s.Dialect
	}
	if s.Framing != "" {
		e.Framing = s.Framing
	}
	if scheme, after, ok := strings.Cut(rest, "://"); ok && s.Scheme != "" {
		if s.Scheme == "tcp" || s.Scheme == "tls" {
			after, _, _ = strings.Cut(after, "/") // a path is HTTP's
		}
		if rest = s.Scheme + "://" + after; scheme == "tcp" && s.Scheme == "http" {
			rest, e.Framing = rest+"/", ""
		}
	}
	usual := Endpoint{Dialect: e.Dialect}.framing()
	for _, word := range []string{e.Turned, e.Framing, e.Dialect} {
		if word != "" && !(word == e.Dialect && word == all.Default()) && !(word == e.Framing && word == usual) {
			rest = word + "+" + rest
		}
	}
	return rest
}

// Over returns typed with the dialect and the framing of e in front.
func (e Endpoint) Over(typed string) string {
	s := Sign{Dialect: e.Dialect, Framing: e.Framing}
	if s.Dialect == all.Default() {
		s.Dialect = ""
	}
	return s.Respelt(typed)
}

// NamesDialect reports whether an endpoint, as a user typed it, names its
// dialect.
func NamesDialect(typed string) bool {
	e, _, err := prefixes(typed)
	return err != nil || e.Dialect != ""
}
