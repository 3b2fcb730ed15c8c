package transport

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	"rpcx/wire"
)

// A guard decides which requests a listener takes.
type guard struct {
	path    string   // the only one, exactly
	hosts   []string // names that Host may have beside the loopback ones; nil with anyHost
	anyHost bool
	origins []string
	token   string // "" demands none
	posted  bool   // http: POST with JSON
	websock bool
}

// bind binds the listener, and sets up its guard and its endpoint.
//
// Which Host a request must have (a page in a browser can reach our port under
// a name of its own, DNS rebinding): a loopback name, or the one in LISTEN.
// Where LISTEN is a wildcard, or an address that is not loopback, any Host may
// come: such a listener has a token or client certificates, or is public. A
// Unix socket, which no browser reaches, has no such check.
func (l *httpListener) bind(ctx context.Context, a Address) (net.Listener, error) {
	if a.User != nil {
		return nil, usage("%s: a listener has no user and password; --token @FILE demands a token", a.Scheme)
	}
	path, query, _ := strings.Cut(a.URLPath, "?")
	if query != "" {
		return nil, usage("%s: a listener has no query", a.Scheme)
	}
	if path == "" {
		path = "/"
	}
	l.guard = guard{path: path, origins: l.c.AllowOrigin, token: l.c.Token, posted: !l.ws, websock: l.ws}
	if a.Path != "" {
		ln, err := listenUnix(a.Path)
		if err != nil {
			return nil, err
		}
		l.anyHost = true
		l.endpoint = a.Scheme + ":" + a.Path + ":" + path
		return ln, nil
	}
	ln, host, err := listenTCP(ctx, a, l.c)
	if err != nil {
		return nil, err
	}
	name := strings.Trim(hostname(host), "[]")
	switch ip := net.ParseIP(name); {
	case name == "" || ip != nil && !ip.IsLoopback():
		l.anyHost = true
	case ip == nil:
		l.hosts = []string{strings.ToLower(name)}
	}
	l.endpoint = a.Scheme + "://" + shownHost(host, ln.Addr()) + path
	return ln, nil
}

// listenTCP binds host[:port] of a; without a port, the scheme's. It refuses,
// before it binds, to be reachable by others without any of the three things
// that make it so on purpose.
func listenTCP(ctx context.Context, a Address, c Config) (net.Listener, string, error) {
	host := a.Host
	if _, _, err := net.SplitHostPort(host); err != nil {
		port := "80"
		if a.Scheme == "wss" || a.Scheme == "https" {
			port = "443"
		}
		host = net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	addr, err := net.ResolveTCPAddr("tcp", host)
	if err != nil {
		return nil, "", wire.NewFault(wire.Unreachable, fmt.Sprintf("cannot listen on %s: %v", a, innermost(err)), err)
	}
	if !addr.IP.IsLoopback() && c.Token == "" && c.TLS.CACert == "" && !c.Public {
		f := usage("%s: others can reach this address", a)
		f.Hint = "demand a token (--token @FILE) or client certificates (--cacert FILE), or say --public"
		return nil, "", f
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr.String())
	if err != nil {
		f := wire.NewFault(wire.Unreachable, fmt.Sprintf("cannot listen on %s: %v", a, bindCause(err)), err)
		return nil, "", f
	}
	return ln, host, nil
}

func bindCause(err error) error {
	if op, ok := err.(*net.OpError); ok {
		return op.Err
	}
	return err
}

func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport
	}
	return host
}

// shownHost returns the host as it was given, with the port that was bound; for
// a wildcard, the loopback address through which this machine reaches it.
func shownHost(given string, bound net.Addr) string {
	_, port, _ := net.SplitHostPort(bound.String())
	host := hostname(given)
	switch ip := net.ParseIP(host); {
	case host == "", ip != nil && ip.Equal(net.IPv4zero):
		host = "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

// allow answers a request that is not to be taken, and says whether it is.
func (g *guard) allow(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	switch {
	case !g.knownHost(r.Host):
		refuse(w, http.StatusForbidden, "this listener has no such host name")
	case r.URL.Path != g.path && r.URL.EscapedPath() != g.path:
		refuse(w, http.StatusNotFound, "no such path")
	case len(r.Header["Origin"]) > 1 || origin != "" && !g.knownOrigin(origin):
		refuse(w, http.StatusForbidden, "this listener takes nothing from pages of that origin")
	case g.posted && origin != "" && r.Method == http.MethodOptions:
		allowOrigin(w, origin) // what a page's browser asks before it posts JSON
		w.Header().Set("Access-Control-Allow-Methods", "POST")
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type, Authorization, Accept")
		w.WriteHeader(http.StatusNoContent)
	case !g.authorized(r):
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "a bearer token is needed")
	case g.websock && !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		w.Header().Set("Upgrade", "websocket")
		refuse(w, http.StatusUpgradeRequired, "this is a WebSocket")
	case g.posted && r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		refuse(w, http.StatusMethodNotAllowed, "messages are posted")
	case g.posted && !postsJSON(r):
		w.Header().Set("Accept", "application/json")
		refuse(w, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	default:
		if g.posted && origin != "" {
			allowOrigin(w, origin)
		}
		return true
	}
	return false
}

func allowOrigin(w http.ResponseWriter, origin string) {
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Add("Vary", "Origin")
}

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

func (g *guard) knownOrigin(origin string) bool {
	return slices.Contains(g.origins, origin) || slices.Contains(g.origins, "*")
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
	return err == nil && media == "application/json"
}

// refuse answers with a status and one line of text.
func refuse(w http.ResponseWriter, status int, format string, args ...any) {
	http.Error(w, fmt.Sprintf(format, args...), status)
}
