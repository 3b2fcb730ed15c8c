package httpserver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/stream"
)

// A guard decides which requests a listener takes, be they upgrades or POSTs.
type guard struct {
	path    string   // the only one, exactly
	hosts   []string // names that Host may have beside the loopback ones; nil with anyHost
	anyHost bool
	own     []string // the origins of pages that this listener itself would serve
	origins []string // those that the user allows
	token   string   // "" demands none
	websock bool     // LISTEN names a WebSocket: who asks for neither is told of that
	noPosts bool     // only WebSockets
	relayed bool     // requests are passed on, whatever their method
	session string   // the header that names a session; "": there are none
	gets    wire.HTTPGets
	refused refusals
}

// bind binds the listener, and sets up its guard and its endpoint.
//
// Which Host a request must have (a page in a browser can reach our port under
// a name of its own, DNS rebinding): a loopback name, or the one in LISTEN.
// Where LISTEN is a wildcard, or an address that is not loopback, any Host may
// come: such a listener has a token or client certificates, or is public. A
// Unix socket, which no browser reaches, has no such check.
func (l *listener) bind(ctx context.Context, a transport.Address) (net.Listener, error) {
	if a.User != nil {
		return nil, transport.Usage("%s: a listener has no user and password; --token @FILE demands a token", a.Scheme)
	}
	path, query, _ := strings.Cut(a.URLPath, "?")
	if query != "" {
		return nil, transport.Usage("%s: a listener has no query", a.Scheme)
	}
	if path == "" {
		path = "/"
	}
	l.path, l.origins, l.token = path, l.c.AllowOrigin, l.c.Token
	l.websock, l.noPosts, l.relayed = a.WebSocket(), l.c.NoPosts, l.c.Relay != nil
	l.refused.warn = l.c.Warnf
	l.gets = l.c.Gets
	if l.c.Sessions != nil {
		l.session = l.c.Sessions.Header
	}
	if a.Path != "" {
		ln, err := stream.ListenUnix(a.Path)
		if err != nil {
			return nil, err
		}
		l.anyHost = true
		l.endpoint = a.Scheme + ":" + a.Path + ":" + path
		return ln, nil
	}
	ln, at, err := stream.ListenTCP(ctx, a, l.c)
	if err != nil {
		return nil, err
	}
	name := strings.Trim(hostname(a.Host), "[]")
	switch ip := net.ParseIP(name); {
	case name == "" || ip != nil && !ip.IsLoopback():
		l.anyHost = true
	case ip == nil:
		l.hosts = []string{strings.ToLower(name)}
	}
	l.endpoint = a.Scheme + "://" + at + path
	l.own = ownOrigins(a.Scheme, name, ln.Addr())
	return ln, nil
}

// ownOrigins returns the origins that a page of this very listener would have: its
// bound address where that is loopback, and the name in LISTEN. What Host says is
// no part of it, as anybody can say anything there.
func ownOrigins(scheme, name string, bound net.Addr) []string {
	web := strings.Replace(scheme, "ws", "http", 1)
	at, port, _ := net.SplitHostPort(bound.String())
	var own []string
	if ip := net.ParseIP(at); ip.IsLoopback() {
		own = append(own, web+"://"+net.JoinHostPort(at, port))
	}
	if name != "" && net.ParseIP(name) == nil {
		own = append(own, web+"://"+net.JoinHostPort(strings.ToLower(name), port))
	}
	return own
}

func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport
	}
	return host
}

// allow answers a request that is not to be taken, and says whether it is.
func (g *guard) allow(w http.ResponseWriter, r *http.Request) bool {
	from := r.Header.Get("Origin")
	refuse := func(status int, why string) bool {
		g.refused.tell(r, status, why)
		refuse(w, status, "%s", why)
		return false
	}
	switch {
	case !g.knownHost(r.Host):
		return refuse(http.StatusForbidden, "this listener has no such host name")
	case r.URL.Path != g.path && r.URL.EscapedPath() != g.path && !g.isGet(r):
		return refuse(http.StatusNotFound, "no such path")
	case len(r.Header["Origin"]) > 1 || from != "" && !g.knownOrigin(from):
		return refuse(http.StatusForbidden, "this listener takes nothing from pages of that origin")
	case !g.noPosts && from != "" && r.Method == http.MethodOptions:
		g.preflight(w, from)
		return false
	case !g.authorized(r):
		w.Header().Set("WWW-Authenticate", "Bearer")
		return refuse(http.StatusUnauthorized, "a bearer token is needed")
	case isUpgrade(r):
		return true
	case g.relayed && r.Method != http.MethodPost: // a body is none that a page may send without asking
	case g.inSession(r), g.isGet(r):
	case g.noPosts, g.websock && r.Method != http.MethodPost:
		w.Header().Set("Upgrade", "websocket")
		return refuse(http.StatusUpgradeRequired, "this is a WebSocket")
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", g.methods())
		return refuse(http.StatusMethodNotAllowed, "messages are posted")
	case !postsJSON(r):
		w.Header().Set("Accept", "application/json")
		return refuse(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	}
	if from != "" {
		allowOrigin(w, from)
	}
	return true
}

// isUpgrade says that a request wants a WebSocket.
func isUpgrade(r *http.Request) bool { return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") }

// knownHost reports whether a request's Host is a loopback name or ours.
func (g *guard) knownHost(host string) bool {
	if g.anyHost {
		return true
	}
	name := strings.ToLower(strings.TrimSuffix(strings.Trim(hostname(host), "[]"), "."))
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback()
	}
	return name == "localhost" || slices.Contains(g.hosts, name)
}

// knownOrigin reports whether a page of this origin may connect: a page of the
// listener itself, or one that the user allowed. "null" is never the listener's
// own.
func (g *guard) knownOrigin(from string) bool {
	if slices.Contains(g.origins, from) || slices.Contains(g.origins, "*") {
		return true
	}
	u, err := url.Parse(from)
	return err == nil && u.Host != "" && slices.Contains(g.own, transport.Origin(u))
}

// authorized compares the bearer token in a time that tells nothing about it.
func (g *guard) authorized(r *http.Request) bool {
	if g.token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// postsJSON reports whether a body claims to be JSON, which no page can do
// without asking first.
func postsJSON(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && (media == "application/json" || media == "application/json-rpc")
}

// refuse answers with a status and one line of text.
func refuse(w http.ResponseWriter, status int, format string, args ...any) {
	http.Error(w, fmt.Sprintf(format, args...), status)
}

// refusals tells the user who was refused, and why, without letting anybody
// flood what he reads: of more than maxRefusals a second only the number.
type refusals struct {
	warn func(format string, args ...any)

	mu    sync.Mutex
	since time.Time
	told  int
	left  int // not told of in this second
}

const maxRefusals = 10

// tell notes that the request r was answered with status, and why.
func (f *refusals) tell(r *http.Request, status int, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.since) > time.Second {
		if f.left > 0 {
			f.warn("%d more requests were refused", f.left)
		}
		f.since, f.told, f.left = now, 0, 0
	}
	if f.told == maxRefusals {
		f.left++
		return
	}
	f.told++
	f.warn("refused %s: %d, %s", cmp.Or(strings.Trim(r.RemoteAddr, "@"), "a client"), status, why) // "@": a Unix socket's
}
