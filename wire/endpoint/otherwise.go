package endpoint

import (
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/transport"
)

// A doubt is a failure to reach a peer, or to be greeted by it, after which another endpoint is worth a try.
type doubt struct {
	schemes []string // of the endpoints that it is about; nil: all of them
	shown   func(f *wire.Fault, e Endpoint) bool
	to      map[string]string // the schemes to try in place of e's; nil: e's own, in the default dialect
	why     string
}

// To and from TLS, and between the two ways over HTTP.
var (
	plain  = map[string]string{"https": "http", "wss": "ws", "tls": "tcp"}
	secure = map[string]string{"http": "https", "ws": "wss", "tcp": "tls"}
	posted = map[string]string{"ws": "http", "wss": "https"}
	raised = map[string]string{"http": "ws", "https": "wss"}

	unframed = map[string]string{"http": "tcp", "ws": "tcp", "https": "tls", "wss": "tls"}
)

// wantsUpgrade and wantsTLS match what the bodies of such refusals say. They are compiled when something was refused.
var (
	wantsUpgrade = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)upgrade|websocket`) })
	wantsTLS     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bHTTPS\b`) })
)

// noMethod matches what servers say of a method that they do not have, where their code is another than -32601.
var noMethod = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(unknown|no such) method\b|^method (is )?(not found|unknown)\b`)
})

// doubts is the table of them. The first that fits counts.
var doubts = []doubt{
	{
		to: plain, why: "there is the same without TLS",
		shown: func(f *wire.Fault, _ Endpoint) bool { return strings.HasSuffix(f.Message, "it does not speak TLS") },
	},
	{
		to: plain, schemes: []string{"tls"}, why: "a peer that does not speak TLS does that",
		shown: func(f *wire.Fault, _ Endpoint) bool {
			return f.Kind == wire.Unreachable && strings.HasSuffix(f.Message, "hung up without an answer")
		},
	},
	{
		to: secure, why: "it wants TLS",
		shown: func(f *wire.Fault, _ Endpoint) bool { return refused(f, wantsTLS, http.StatusBadRequest) },
	},
	{
		to: raised, why: "it wants a WebSocket",
		shown: func(f *wire.Fault, _ Endpoint) bool {
			return refused(f, nil, http.StatusUpgradeRequired) || refused(f, wantsUpgrade, http.StatusBadRequest, http.StatusMethodNotAllowed)
		},
	},
	{
		to: raised, why: "a server of WebSockets refuses a POST",
		shown: func(f *wire.Fault, _ Endpoint) bool { return refused(f, nil, http.StatusMethodNotAllowed) },
	},
	{
		to: posted, why: "a server that takes a POST refuses an upgrade",
		shown: func(f *wire.Fault, _ Endpoint) bool {
			return refused(f, nil, http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType, http.StatusNotImplemented)
		},
	},
	{
		to: unframed, why: "what it says is no HTTP",
		shown: func(f *wire.Fault, e Endpoint) bool {
			_, _, err := net.SplitHostPort(e.Address.Host)
			return err == nil && strings.Contains(f.Message, "malformed HTTP")
		},
	},
	{
		why: "it knows no such greeting",
		shown: func(f *wire.Fault, e Endpoint) bool {
			return e.Dialect != "" && e.Dialect != all.Default() && f.Kind == wire.Protocol && f.RPC != nil &&
				(string(f.RPC.Code) == "-32601" || noMethod().MatchString(f.RPC.Message))
		},
	},
}

// Silence says what may be amiss with a peer of e of which nothing ever came; "" where that is not known.
func (e Endpoint) Silence() string {
	switch {
	case e.IsHTTP():
		return "no answer came to the request: " + raised[e.Address.Scheme] + ":// reaches a server of WebSockets, -vv shows what is sent"
	case strings.HasPrefix(e.Address.Scheme, "ws") && !e.Spec().Greeted:
		return "not one message came: -vv shows the frames"
	case e.Spec().Greeted:
		return "it has not greeted us, as a host of " + e.Dialect + " does at once: it may speak another dialect"
	case e.IsBytes() && e.Framing == "" && e.Spec().Framing == "":
		return "not a byte came: it may wait for messages in another framing, as header+ before the endpoint has it; -vv shows the bytes"
	case e.IsBytes():
		return "not a byte came: it may wait for messages in another framing; -vv shows the bytes"
	}
	return ""
}

// Raised returns how the same address is reached by WebSocket; nil where e is not reached by HTTP.
func (e Endpoint) Raised() *Sign {
	if to := raised[e.Address.Scheme]; to != "" {
		return &Sign{Scheme: to}
	}
	return nil
}

// Otherwise returns how the peer of e may want to be spoken to, by the failure to reach it or to be greeted by it, and
// what speaks for that; nil where nothing does.
func (e Endpoint) Otherwise(f *wire.Fault) (sign *Sign, why string) {
	if transport.OfProxy(f) {
		return nil, ""
	}
	for _, d := range doubts {
		to := d.to[e.Address.Scheme]
		switch {
		case d.schemes != nil && !slices.Contains(d.schemes, e.Address.Scheme), d.to != nil && to == "", !d.shown(f, e):
			continue
		case d.to == nil:
			return &Sign{Dialect: all.Default()}, d.why
		}
		return &Sign{Scheme: to}, d.why
	}
	return nil, ""
}

// refused reports whether f is an HTTP answer with one of statuses whose body matches says; nil: whatever it says.
func refused(f *wire.Fault, says func() *regexp.Regexp, statuses ...int) bool {
	return f.HTTP != nil && slices.Contains(statuses, f.HTTP.Status) && (says == nil || says().MatchString(f.HTTP.Body))
}
