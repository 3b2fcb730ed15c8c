package endpoint

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"sync"

	"rpcx/wire/dialect/all"
	"rpcx/wire/framing"
)

// A Sign is what a peer says by which it shows that it speaks otherwise than its
// endpoint says, and what that is.
type Sign struct {
	says    *regexp.Regexp // of what comes first, or of an error
	looks   func(first []byte) bool
	sure    bool   // no program prints that before its messages
	Dialect string // "": that of the endpoint
	Framing string // "": that of the endpoint
	Scheme  string // in place of tcp; "": the transport is the right one
}

// signs is the table of all signs; the first that fits counts.
var signs = sync.OnceValue(func() []Sign {
	says := func(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }
	list := []Sign{
		{says: says(`(?i)^\s*Content-Length: *\d+\r?\n`), sure: true, Framing: "header"},
		{says: says(`^\x1e\s*[\[{]`), sure: true, Framing: "seq"},
		{says: says(`^\s*[\[{][^\n]*[\]}]\s*\x00`), sure: true, Framing: "nul"},
		{says: says(`^\d{1,10}:\s*[\[{]`), Framing: "netstring"},
		{looks: varint, Framing: "varint"},
		{says: says(`^HTTP/1\.[01] `), Scheme: "http"},
		{says: says("^\x15\x03"), Scheme: "tls"}, // an alert: we spoke no TLS
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

// varint reports whether first is the beginning of a message behind its length.
func varint(first []byte) bool {
	size, n := binary.Uvarint(first)
	return n > 0 && size > 1 && n < len(first) && (first[n] == '{' || first[n] == '[') && (n > 1 || first[0] != '{' && first[0] != '[')
}

// Shown returns the sign that what a peer of e says first, or an error of it, is; nil
// where it shows nothing, or what e says already. sure reports whether it can be
// nothing else.
func (e Endpoint) Shown(said []byte) (sign *Sign, sure bool) {
	for _, s := range signs() {
		if s.fits(e) && (s.looks == nil || s.looks(said)) && (s.says == nil || s.says.Match(said)) {
			return &s, s.sure || len(e.Address.Command) == 0 && s.Dialect == ""
		}
	}
	return nil, false
}

// begins are the bytes that messages begin with in each framing; where there is none
// of it, any may.
var begins = map[string]string{
	"line": "{[ \t\r\n", "nul": "{[ \t\r\n", "concat": "{[ \t\r\n", "header": "Cc", "seq": "\x1e", "netstring": "0123456789",
}

// Usual reports whether what a peer of e says first looks as it should: nobody need
// look for signs.
func (e Endpoint) Usual(said []byte) bool {
	if len(said) == 0 || !e.IsBytes() {
		return true
	}
	usual, known := begins[e.framing()]
	return !known || strings.IndexByte(usual, said[0]) >= 0 && (bytes.IndexByte(said, 0) < 0 || e.framing() == "nul")
}

// fits reports whether s would be another way to speak with e's peer.
func (s *Sign) fits(e Endpoint) bool {
	switch {
	case s.Dialect != "":
		return s.Dialect != e.Dialect && all.Has(s.Dialect)
	case s.Framing == "line" && e.framing() == "concat": // which reads lines as well
		return false
	case s.Framing != "":
		return e.IsBytes() && s.Framing != e.framing()
	}
	return e.Address.Scheme == "tcp"
}

// framing returns the name of the framing that e's messages are in.
func (e Endpoint) framing() string {
	for _, name := range []string{e.Framing, e.Spec().Framing} {
		if name != "" {
			return name
		}
	}
	return framing.Names()[0]
}

// Prefix returns what is to stand before the endpoint's transport, or in place of it.
func (s *Sign) Prefix() string {
	switch {
	case s.Dialect != "":
		return s.Dialect + "+"
	case s.Framing != "":
		return s.Framing + "+"
	}
	return s.Scheme + "://"
}

// Respelt returns an endpoint, as a user typed it, so that it says what s shows.
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
	if after, ok := strings.CutPrefix(rest, "tcp://"); ok && s.Scheme != "" {
		if rest = s.Scheme + "://" + after; s.Scheme == "http" {
			rest, e.Framing = rest+"/", ""
		}
	}
	usual := Endpoint{Dialect: e.Dialect}.framing()
	for _, word := range []string{e.Turned, e.Framing, e.Dialect} {
		if word != "" && !(word == e.Framing && word == usual) {
			rest = word + "+" + rest
		}
	}
	return rest
}

// Over returns typed with the dialect and the framing of e.
func (e Endpoint) Over(typed string) string {
	s := Sign{Dialect: e.Dialect, Framing: e.Framing}
	if s.Dialect == all.Default() {
		s.Dialect = ""
	}
	return s.Respelt(typed)
}

// NamesDialect reports whether an endpoint, as a user typed it, says its dialect.
func NamesDialect(typed string) bool {
	e, _, err := prefixes(typed)
	return err != nil || e.Dialect != ""
}
