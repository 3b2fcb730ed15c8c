package endpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/framing"
	"rpcx/wire/transport/schemes"
)

// A signature recognizes a dialect, framing or transport by the first bytes from a peer, or by the text of its error.
type signature struct {
	patterns []*regexp.Regexp // all must match
	unless   *regexp.Regexp   // must not match; may be nil
	matches  func(first []byte) bool
	sure     bool     // not even the output of a program that is starting would match
	instead  []string // the dialects from which it can change; nil for all
	to       Change
}

// signatures contains the signatures of all dialects, framings and transports. The first match counts.
var signatures = sync.OnceValue(func() (list []signature) {
	for _, s := range all.Detected() {
		d := s.Detection
		if len(d.First) == 0 {
			continue
		}
		sig := signature{instead: d.Instead, to: Change{Dialect: s.Name}, patterns: wire.Map(d.First, regexp.MustCompile)}
		if d.Unless != "" {
			sig.unless = regexp.MustCompile(d.Unless)
		}
		list = append(list, sig)
	}
	const http = `^HTTP/1\.[01] |^(?i:<!doctype html)`
	says := func(pattern string) []*regexp.Regexp { return []*regexp.Regexp{regexp.MustCompile(pattern)} }
	return append(list,
		signature{patterns: says(`(?i)^\s*Content-Length: *\d+\r?\n`), sure: true, to: Change{Framing: "header"}},
		signature{patterns: says(`^\x1e\s*[\[{]`), sure: true, to: Change{Framing: "seq"}},
		signature{patterns: says(`^\s*[\[{][^\n]*[\]}]\s*\x00`), sure: true, to: Change{Framing: "nul"}},
		signature{patterns: says(`^\d{1,10}:\s*[\[{]`), to: Change{Framing: "netstring"}},
		signature{matches: varint, to: Change{Framing: "varint"}},
		signature{patterns: says(http), to: Change{Scheme: "http"}},
		signature{patterns: says(http), to: Change{Scheme: "https"}},
		signature{patterns: says("^\x15\x03"), to: Change{Scheme: "tls"}}, // the TLS alert of a server that expected TLS
		signature{patterns: says(`^\s*[\[{][^\n\x00]*[\]}]\s*\n`), to: Change{Framing: "line"}},
	)
})

// varint reports whether first begins with a message that follows its length as a varint. A length of one byte could be
// any character. Such a length counts only if it is not white space and a whole message of that length follows.
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

// Recognize returns the change that said shows to be necessary. said contains the first bytes from e's peer, or its
// error. Recognize returns nil if no signature matches, or if e already has the recognized dialect, framing and
// transport. sure is true if there is no other explanation.
func (e Endpoint) Recognize(received []byte) (c *Change, sure bool) {
	for _, s := range signatures() {
		if s.fits(e) && s.shows(received) {
			return &s.to, s.sure || len(e.Address.Command) == 0 && s.to.Dialect == ""
		}
	}
	return nil, false
}

// Shown returns the change that the first bytes from e's peer, or its error f, suggest after a failed request, or nil.
func (e Endpoint) Shown(first []byte, f *wire.Fault) *Change {
	c, _ := e.Recognize(first)
	if whole := bytes.TrimSpace(first); c == nil && f.Kind == wire.Timeout && e.IsBytes() && e.FramingName() == "line" &&
		len(whole) > 0 && whole[0] == '{' && bytes.IndexByte(first, '\n') < 0 && json.Valid(whole) {
		return &Change{Framing: "concat"} // a message without a line break after it
	}
	if c == nil && f.RPC != nil {
		if c, _ = e.Recognize(f.RPC.JSON()); c != nil && c.Dialect == "" {
			return nil // a response arrived, so the framing is right
		}
	}
	return c
}

func (s *signature) shows(received []byte) bool {
	if s.matches != nil && !s.matches(received) || s.unless != nil && s.unless.Match(received) {
		return false
	}
	return !slices.ContainsFunc(s.patterns, func(p *regexp.Regexp) bool { return !p.Match(received) })
}

// fits reports whether s can apply to e, because it selects another dialect, framing or transport.
func (s *signature) fits(e Endpoint) bool {
	switch {
	case s.to.Dialect != "":
		return s.to.Dialect != e.Dialect && (s.instead == nil || slices.Contains(s.instead, e.Dialect))
	case s.to.Framing == "line" && e.FramingName() == "concat": // concat also reads lines
		return false
	case s.to.Framing != "":
		return e.IsBytes() && s.to.Framing != e.FramingName()
	}
	return e.Address.Scheme == map[string]string{"http": "tcp", "https": "tls", "tls": "tcp"}[s.to.Scheme]
}

// begins contains, by framing, the bytes with which a message can begin. In other framings, any byte is possible.
var begins = map[string]string{
	"line": "{[ \t\r\n", "nul": "{[ \t\r\n", "concat": "{[ \t\r\n", "header": "Cc", "seq": "\x1e", "netstring": "0123456789",
}

// LooksExpected reports whether the first bytes from a peer can belong to e's framing. Then Recognize, which is slower,
// is not needed.
func (e Endpoint) LooksExpected(received []byte) bool {
	if len(received) == 0 || !e.IsBytes() {
		return true
	}
	usual, known := begins[e.FramingName()]
	return !known || strings.IndexByte(usual, received[0]) >= 0 && (bytes.IndexByte(received, 0) < 0 || e.FramingName() == "nul")
}

// TakesHeaders reports whether the user's headers (--header) can be sent to e: in HTTP requests, or in header lines
// before each message.
func (e Endpoint) TakesHeaders() bool {
	return schemes.TakesHeaders(e.Address) || e.IsBytes() && framing.HasHead(e.FramingName())
}

// FramingName returns the name of e's framing, even if it is the default.
func (e Endpoint) FramingName() string {
	usual := framing.Names()[0]
	if e.Address.Scheme == "ipc" { // Node.js writes lines
		return usual
	}
	return cmp.Or(e.Framing, e.Spec().Transport.Framing, usual)
}
