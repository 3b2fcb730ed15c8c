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
	"rpcx/wire/transport/schemes"
)

// A Signature recognises by the first bytes of a peer, or by the text of its error, which
// dialect, framing or transport it speaks. At most one of Dialect, Framing and Scheme is set
// where an endpoint has to be changed.
type Signature struct {
	pattern *regexp.Regexp // matches the first bytes, or the text of an error
	matches func(first []byte) bool
	sure    bool   // unmistakable, even among what a program may print when it starts
	in      string // the dialect of the endpoints that it applies to; "": all of them
	Dialect string // the right one; "": the endpoint's
	Framing string // the right one; "": the endpoint's
	Scheme  string // the right one; "": the endpoint's
}

// signatures is the table of all Signatures. The first that matches counts.
var signatures = sync.OnceValue(func() []Signature {
	says := func(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }
	list := []Signature{
		{matches: debugAdapter, Dialect: "dap"},
		{pattern: says(`(?i)^\s*Content-Length:[^{]*\{[^{}]*"jsonrpc": *"2\.0"`), in: "dap", Dialect: "lsp"},
		{pattern: says(`(?i)^\s*Content-Length: *\d+\r?\n`), sure: true, Framing: "header"},
		{pattern: says(`^\x1e\s*[\[{]`), sure: true, Framing: "seq"},
		{pattern: says(`^\s*[\[{][^\n]*[\]}]\s*\x00`), sure: true, Framing: "nul"},
		{pattern: says(`^\d{1,10}:\s*[\[{]`), Framing: "netstring"},
		{matches: varint, Framing: "varint"},
		{pattern: says(`^HTTP/1\.[01] |^(?i:<!doctype html)`), Scheme: "http"},
		{pattern: says("^\x15\x03"), Scheme: "tls"}, // a TLS alert: it expected TLS
		{pattern: says(`^\s*\{"QMP"|QMP input member`), Dialect: "qmp"},
		{pattern: says(`has property other than 'id', 'method'`), Dialect: "cdp"},
		{pattern: says(`has property other than 'id', 'method'`), Dialect: "jsonrpc1"},
		{pattern: says(`^\s*[\[{]`), Framing: "line"},
	}
	for _, s := range all.Specs() {
		if d := s.Detection; d != nil && d.Signature != "" {
			list = append([]Signature{{pattern: says(d.Signature), Dialect: s.Name}}, list...)
		}
	}
	return list
})

// varint reports whether first begins with the length of a message as a varint, and the message. A length of one byte could
// be any character: it counts only if it is no white space and a whole message of that length follows.
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

// debugAdapter reports whether first is a message of the Debug Adapter Protocol behind its length. Its members come in
// any order.
func debugAdapter(first []byte) bool {
	head, message, ok := bytes.Cut(first, []byte("{"))
	return ok && bytes.HasPrefix(bytes.ToLower(bytes.TrimLeft(head, "\r\n")), []byte("content-length:")) &&
		seqMember().Match(message) && typeMember().Match(message) && !bytes.Contains(message, []byte(`"jsonrpc"`))
}

// The members that each message of the Debug Adapter Protocol has.
var (
	seqMember  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"seq": *\d`) })
	typeMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"type": *"(event|response)"`) })
)

// Recognize returns the Signature that said matches: the first bytes of a peer of e, or an
// error that it answered. It is nil if none matches, or if e names the same dialect, framing
// and transport already. sure reports that there is no other explanation.
func (e Endpoint) Recognize(said []byte) (sig *Signature, sure bool) {
	for _, s := range signatures() {
		if s.fits(e) && (s.matches == nil || s.matches(said)) && (s.pattern == nil || s.pattern.Match(said)) {
			return &s, s.sure || len(e.Address.Command) == 0 && s.Dialect == ""
		}
	}
	return nil, false
}

// begins holds, by framing, the bytes with which a message can begin. In a framing that is
// missing here any byte can.
var begins = map[string]string{
	"line": "{[ \t\r\n", "nul": "{[ \t\r\n", "concat": "{[ \t\r\n", "header": "Cc", "seq": "\x1e", "netstring": "0123456789",
}

// LooksExpected reports whether the first bytes of a peer of e can belong to e's framing, so
// that Recognize need not be called, which is slower.
func (e Endpoint) LooksExpected(said []byte) bool {
	if len(said) == 0 || !e.IsBytes() {
		return true
	}
	usual, known := begins[e.framing()]
	return !known || strings.IndexByte(usual, said[0]) >= 0 && (bytes.IndexByte(said, 0) < 0 || e.framing() == "nul")
}

// fits reports whether s can apply to e: it names a dialect, a framing or a transport other than e's.
func (s *Signature) fits(e Endpoint) bool {
	switch {
	case s.Dialect != "":
		return s.Dialect != e.Dialect && all.Has(s.Dialect) && (s.in == "" || s.in == e.Dialect)
	case s.Framing == "line" && e.framing() == "concat": // concat reads lines as well
		return false
	case s.Framing != "":
		return e.IsBytes() && s.Framing != e.framing()
	}
	return e.Address.Scheme == "tcp"
}

// TakesHeaders reports whether the user's headers (--header) can be sent to e: in HTTP requests,
// or in the header lines before each message.
func (e Endpoint) TakesHeaders() bool {
	return schemes.TakesHeaders(e.Address) || e.IsBytes() && framing.HasHead(e.framing())
}

// framing returns the name of e's framing, also if that is the default.
func (e Endpoint) framing() string {
	for _, name := range []string{e.Framing, e.Spec().Transport.Framing} {
		if name != "" {
			return name
		}
	}
	return framing.Names()[0]
}

// Prefix returns what s changes in an endpoint: the prefix before the transport, such as
// "header+", or the transport itself, such as "http://".
func (s *Signature) Prefix() string {
	switch {
	case s.Dialect != "":
		return s.Dialect + "+"
	case s.Framing != "":
		return s.Framing + "+"
	}
	return s.Scheme + "://"
}

// Rewrite returns an endpoint, as a user typed it, with the dialect, framing and transport that s names.
func (s *Signature) Rewrite(typed string) string {
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
	for _, word := range []string{e.Reversed, e.Framing, e.Dialect} {
		if word != "" && !(word == e.Dialect && word == all.Default()) && !(word == e.Framing && word == usual) {
			rest = word + "+" + rest
		}
	}
	return rest
}

// Over returns typed with the dialect and the framing of e in front.
func (e Endpoint) Over(typed string) string {
	s := Signature{Dialect: e.Dialect, Framing: e.Framing}
	if s.Dialect == all.Default() {
		s.Dialect = ""
	}
	return s.Rewrite(typed)
}

// NamesDialect reports whether an endpoint, as a user typed it, names its
// dialect.
func NamesDialect(typed string) bool {
	e, _, err := prefixes(typed)
	return err != nil || e.Dialect != ""
}
