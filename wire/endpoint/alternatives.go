package endpoint

import (
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/transport"
)

// An alternative is a change of the endpoint that may help after a certain failure to reach a peer or to complete its
// handshake.
type alternative struct {
	schemes []string // the schemes to which it applies; nil for all
	applies func(f *wire.Fault, e Endpoint) bool
	to      map[string]string // maps schemes to the schemes to try; nil to keep the scheme and select the default dialect
	reason  string            // "" if the failure's message contains it
	proven  bool              // the failure has no other explanation
}

// These maps contain the scheme to try for each scheme: without TLS, with TLS, HTTP POST instead of WebSocket,
// WebSocket instead of HTTP, and a byte stream instead of either.
var (
	plain    = map[string]string{"https": "http", "wss": "ws", "tls": "tcp"}
	secure   = map[string]string{"http": "https", "ws": "wss", "tcp": "tls"}
	posted   = map[string]string{"ws": "http", "wss": "https"}
	upgraded = map[string]string{"http": "ws", "https": "wss"}

	unframed = map[string]string{"http": "tcp", "ws": "tcp", "https": "tls", "wss": "tls"}
)

// These patterns match the bodies of responses with which HTTP servers refuse a request, and the error messages of servers
// that reject an unknown method with a code other than -32601.
const (
	wantsUpgrade = `(?i)upgrade|websocket`
	wantsTLS     = `(?i)\bHTTPS\b`
	noMethod     = `(?i)^(unknown|no such) method\b|^method (is )?(not found|unknown)\b`
)

// alternatives is a table of which the first matching row applies.
var alternatives = []alternative{
	{
		to: plain, reason: "try it without TLS", proven: true,
		applies: func(f *wire.Fault, _ Endpoint) bool { return strings.HasSuffix(f.Message, transport.NoTLS) },
	},
	{
		to: plain, schemes: []string{"tls"}, reason: "the peer may not use TLS",
		applies: func(f *wire.Fault, _ Endpoint) bool {
			return f.Kind == wire.Unreachable && strings.HasSuffix(f.Message, transport.NoResponse)
		},
	},
	{
		to: secure, reason: "the server requires TLS", proven: true,
		applies: func(f *wire.Fault, _ Endpoint) bool { return refused(f, wantsTLS, http.StatusBadRequest) },
	},
	{
		to: upgraded, reason: "the server requires a WebSocket", proven: true,
		applies: func(f *wire.Fault, _ Endpoint) bool {
			return refused(f, "", http.StatusUpgradeRequired) || refused(f, wantsUpgrade, http.StatusBadRequest, http.StatusMethodNotAllowed)
		},
	},
	{
		to: upgraded, reason: "WebSocket servers refuse POST requests",
		applies: func(f *wire.Fault, _ Endpoint) bool { return refused(f, "", http.StatusMethodNotAllowed) },
	},
	{
		to: posted, reason: "servers that accept POST requests refuse upgrades",
		applies: func(f *wire.Fault, _ Endpoint) bool {
			return refused(f, "", http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType, http.StatusNotImplemented)
		},
	},
	{
		to: unframed, // the message says that the response is not HTTP
		applies: func(f *wire.Fault, e Endpoint) bool {
			_, _, err := net.SplitHostPort(e.Address.Host)
			return err == nil && strings.Contains(f.Message, "malformed HTTP")
		},
	},
	{
		reason: "the peer does not support this handshake", proven: true,
		applies: func(f *wire.Fault, e Endpoint) bool {
			return e.Dialect != "" && e.Dialect != all.Default() && f.Kind == wire.Protocol && f.RPC != nil &&
				(string(f.RPC.Code) == "-32601" || matches(noMethod, f.RPC.Message))
		},
	},
}

// SilenceHint returns a possible reason why the peer of e has sent nothing, or "".
func (e Endpoint) SilenceHint() string {
	switch {
	case e.IsHTTP():
		return "no response to the request"
	case strings.HasPrefix(e.Address.Scheme, "ws") && !e.Spec().Handshake.ServerFirst:
		return "no message from the peer"
	case e.Spec().Handshake.ServerFirst:
		return "no handshake, although a " + e.Dialect + " host sends one immediately; the peer may use another dialect"
	case e.IsBytes() && e.Framing == "" && e.Spec().Transport.Framing == "":
		return "no response; the peer may expect another framing, such as header+"
	case e.IsBytes() && e.TakesHeaders():
		return "no response; the peer may expect another framing, or a header such as Content-Type (--header)"
	case e.IsBytes():
		return "no response; the peer may expect another framing"
	}
	return ""
}

// IsProven reports whether the failure f has no other explanation than that e must be changed as Alternative proposes.
func (e Endpoint) IsProven(f *wire.Fault) bool {
	a := e.alternative(f)
	return a != nil && a.proven
}

// Secure returns the change that adds TLS to e, or nil if e has or cannot have TLS.
func (e Endpoint) Secure() *Change {
	if to := secure[e.Address.Scheme]; to != "" {
		return &Change{Scheme: to}
	}
	return nil
}

// Refused returns the change of e's scheme to try after the failure f: that of Alternative, or HTTP POST if the server refused
// an upgrade. It returns nil if neither applies.
func (e Endpoint) Refused(f *wire.Fault) *Change {
	if c, _ := e.Alternative(f); c != nil && c.Scheme != "" {
		return c
	}
	if to := posted[e.Address.Scheme]; to != "" && f.HTTP != nil && f.Kind != wire.Auth {
		return &Change{Scheme: to}
	}
	return nil
}

// Exposes reports whether the change c removes TLS from e, although connections with the settings in cfg send headers or
// credentials. A server that only seems to have no TLS must not get them.
func (e Endpoint) Exposes(c *Change, cfg transport.Config) bool {
	if c.Scheme == "" || c.Scheme != plain[e.Address.Scheme] {
		return false
	}
	return len(cfg.Header) > 0 || len(cfg.Head) > 0 || e.Address.User != nil || cfg.Login != nil && cfg.Login.Identity(e.Address) != ""
}

// alternative returns the first matching row of the table, or nil.
func (e Endpoint) alternative(f *wire.Fault) *alternative {
	return wire.Find(alternatives, func(a *alternative) bool {
		return (a.schemes == nil || slices.Contains(a.schemes, e.Address.Scheme)) && (a.to == nil || a.to[e.Address.Scheme] != "") && a.applies(f, e)
	})
}

// Alternative returns a change of e to try after the failure f, and its reason, or nil. f is a failure to reach the
// peer or to complete its handshake.
func (e Endpoint) Alternative(f *wire.Fault) (c *Change, why string) {
	if transport.OfProxy(f) {
		return nil, ""
	}
	if a := e.alternative(f); a != nil && a.to == nil {
		return &Change{Dialect: all.Default()}, a.reason
	} else if a != nil {
		return &Change{Scheme: a.to[e.Address.Scheme]}, a.reason
	}
	if e.Dialect != all.Default() || f.Kind != wire.RPCError || f.RPC == nil {
		return nil, ""
	}
	for _, s := range all.Detected() {
		r := s.Detection.Refusal
		if r != nil && matches(r.Method, f.Method) && matches(r.Error, string(f.RPC.Code)+" "+f.RPC.Message) {
			return &Change{Dialect: s.Name}, r.Hint
		}
	}
	return nil, ""
}

// refused reports whether f is an HTTP response with one of these statuses and a body that matches a pattern.
func refused(f *wire.Fault, pattern string, statuses ...int) bool {
	return f.HTTP != nil && slices.Contains(statuses, f.HTTP.Status) && matches(pattern, f.HTTP.Body)
}

// matches reports whether text matches a pattern. Patterns are compiled for each use, because failures are rare.
func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// A Change describes how to turn an endpoint into another one to try: with another dialect, framing or transport. If an
// endpoint must change, exactly one member is set.
type Change struct {
	Dialect string // the new dialect, or ""
	Framing string // the new framing, or ""
	Scheme  string // the new scheme, or ""
}

// Prefix returns the part of an endpoint that changes: a prefix such as "header+", or the transport, such as "http://".
func (c Change) Prefix() string {
	switch {
	case c.Dialect != "":
		return c.Dialect + "+"
	case c.Framing != "":
		return c.Framing + "+"
	}
	return c.Scheme + "://"
}

// Rewrite returns the user's endpoint with the dialect, framing or transport of c.
func (c Change) Rewrite(typed string) string {
	e, rest, err := prefixes(typed)
	if err != nil {
		return typed
	}
	e.change(c, rest)
	if scheme, after, ok := strings.Cut(rest, "://"); ok && c.Scheme != "" {
		if c.Scheme == "tcp" || c.Scheme == "tls" {
			after, _, _ = strings.Cut(after, "/") // a path belongs to HTTP
		}
		if rest = c.Scheme + "://" + after; byteTransports[scheme] && strings.HasPrefix(c.Scheme, "http") {
			rest, e.Framing = rest+"/", ""
		}
	}
	if e.Framing == (Endpoint{Dialect: e.Dialect}).FramingName() {
		e.Framing = ""
	}
	if e.Dialect == all.Default() {
		e.Dialect = ""
	}
	for _, word := range []string{e.Reversed, e.Framing, e.Dialect} {
		if word != "" {
			rest = word + "+" + rest
		}
	}
	return rest
}

// change gives e the dialect and the framing of c. rest is e's transport and everything after it.
func (e *Endpoint) change(c Change, rest string) {
	scheme, _, _ := strings.Cut(rest, ":")
	if c.Dialect == all.Default() && byteTransports[scheme] && e.Framing == "" {
		e.Framing = e.FramingName() // messages have arrived in this framing
	}
	if c.Dialect != "" {
		e.Dialect = c.Dialect
	}
	if c.Framing != "" {
		e.Framing = c.Framing
	}
}

// Over returns the endpoint typed with the dialect and the framing of e.
func (e Endpoint) Over(typed string) string {
	c := Change{Dialect: e.Dialect, Framing: e.Framing}
	if c.Dialect == all.Default() {
		c.Dialect = ""
	}
	return c.Rewrite(typed)
}

// NamesDialect reports whether the user's endpoint contains the name of a dialect.
func NamesDialect(typed string) bool {
	e, _, err := prefixes(typed)
	return err != nil || e.Dialect != ""
}
