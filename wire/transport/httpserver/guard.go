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

// A guard decides which requests a listener accepts.
type guard struct {
	c        transport.Config
	endpoint string
	path     string   // the only path that is allowed
	hosts    []string // the Hosts that are allowed in addition to loopback names; unused if anyHost is set
	anyHost  bool
	own      []string // the origins of pages that the listener itself serves
	websock  bool     // the listen address is that of a WebSocket, which is mentioned in errors
	refused  *refusals
}

// bind starts to listen, and sets the endpoint and the other fields of g.
//
// The Host of a request must be a loopback name, or the name in LISTEN, because a page in a browser can reach the port
// under a name of its own (DNS rebinding). A listener that other machines can reach accepts any Host, because it has a
// token or client certificates, or is public. Browsers cannot reach a Unix socket, so no check is necessary there.
func (g *guard) bind(ctx context.Context, a transport.Address) (net.Listener, error) {
	if a.User != nil {
		return nil, wire.Usagef("%s: a listen address cannot have a user and password; require a token with --token @FILE", a.Scheme)
	}
	path, query, _ := strings.Cut(a.URLPath, "?")
	if query != "" {
		return nil, wire.Usagef("%s: a listen address cannot have a query", a.Scheme)
	}
	g.path, g.websock = cmp.Or(path, "/"), a.WebSocket()
	if a.Path != "" {
		g.anyHost = true
		g.endpoint = a.Scheme + ":" + a.Path + ":" + g.path
		return stream.ListenUnix(a.Path)
	}
	ln, at, err := stream.ListenTCP(ctx, a, g.c)
	if err != nil {
		return nil, err
	}
	name := strings.Trim(hostname(a.Host), "[]")
	switch ip := net.ParseIP(name); {
	case name == "" || ip != nil && !ip.IsLoopback():
		g.anyHost = true
	case ip == nil:
		g.hosts = []string{strings.ToLower(name)}
	}
	g.endpoint = a.Scheme + "://" + at + g.path
	g.own = ownOrigins(a.Scheme, name, ln.Addr())
	return ln, nil
}

// ownOrigins returns the origins of the listener's own pages. They contain the name in LISTEN and, if the bound address
// is loopback, that address. The Host header is not used, because a client can send any Host.
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

// A refusal is the response to a request that the guard refuses.
type refusal struct {
	status        int // 0 if the request is accepted
	why           string
	header, value string // the name and value of an additional header, or ""
}

// allow reports whether a request passes the guard. If not, it sends the response.
func (g *guard) allow(w http.ResponseWriter, r *http.Request) bool {
	from := r.Header.Get("Origin")
	no := g.refusesClient(r, from)
	if no.status == 0 && !g.c.NoPosts && from != "" && r.Method == http.MethodOptions {
		g.preflight(w, from)
		return false
	}
	if no.status == 0 {
		no = g.refusesRequest(r)
	}
	if no.status > 0 {
		if no.header != "" {
			w.Header().Set(no.header, no.value)
		}
		g.refused.refuse(w, r, no.status, "%s", no.why)
		return false
	}
	if from != "" && !isUpgrade(r) {
		allowOrigin(w, from)
	}
	return true
}

// refusesClient refuses requests for another host or path, and requests from a page that is not allowed.
func (g *guard) refusesClient(r *http.Request, from string) (no refusal) {
	switch {
	case !g.knownHost(r.Host):
		no.status, no.why = http.StatusForbidden, "the Host header names another host"
	case r.URL.Path != g.path && r.URL.EscapedPath() != g.path && !g.isGet(r) && !g.below(r):
		no.status, no.why = http.StatusNotFound, "no such path"
	case len(r.Header["Origin"]) > 1 || from != "" && !g.knownOrigin(from):
		no.status, no.why = http.StatusForbidden, "this origin is not allowed"
	}
	return no
}

// refusesRequest refuses requests that lack the token, and requests that cannot contain a message.
func (g *guard) refusesRequest(r *http.Request) (no refusal) {
	post := r.Method == http.MethodPost
	switch {
	case !g.authorized(r):
		no = refusal{http.StatusUnauthorized, "a bearer token is required", "WWW-Authenticate", "Bearer"}
	case isUpgrade(r), g.relays(r) && !post, // browsers send such a body only after a preflight
		g.inSession(r), g.isGet(r):
	case g.c.NoPosts, g.websock && (!post || g.c.Relay != nil):
		no = refusal{http.StatusUpgradeRequired, "use a WebSocket", "Upgrade", "websocket"}
	case !post:
		no = refusal{http.StatusMethodNotAllowed, "use POST", "Allow", g.methods()}
	case !postsJSON(r):
		no = refusal{http.StatusUnsupportedMediaType, "the Content-Type must be application/json", "Accept", "application/json"}
	}
	return no
}

// relays reports whether a request is forwarded unchanged. On a WebSocket listener, this applies only to upgrades.
func (g *guard) relays(r *http.Request) bool {
	return g.c.Relay != nil && (isUpgrade(r) || !g.websock)
}

// below reports whether a request may be forwarded although its path is below that of the listener.
func (g *guard) below(r *http.Request) bool {
	path := r.URL.Path
	return g.relays(r) && strings.HasPrefix(path, strings.TrimSuffix(g.path, "/")+"/") && !slices.Contains(strings.Split(path, "/"), "..")
}

// isUpgrade reports whether a request is for a WebSocket.
func isUpgrade(r *http.Request) bool { return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") }

// knownHost reports whether a request's Host is a loopback name or a name of the listener.
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

// knownOrigin reports whether a page with this origin may connect. It may if the page belongs to the listener, or if
// the user has allowed its origin. "null" is never the listener's origin.
func (g *guard) knownOrigin(from string) bool {
	if slices.Contains(g.c.AllowOrigin, from) || slices.Contains(g.c.AllowOrigin, "*") {
		return true
	}
	u, err := url.Parse(from)
	return err == nil && u.Host != "" && slices.Contains(g.own, transport.Origin(u))
}

// authorized compares the bearer token in constant time.
func (g *guard) authorized(r *http.Request) bool {
	if g.c.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.c.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// postsJSON reports whether the body is declared as JSON. Browsers send such a body only after a preflight.
func postsJSON(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && (media == "application/json" || media == "application/json-rpc")
}

// refuse responds to r with a status and one line of text, and reports the refusal.
func (f *refusals) refuse(w http.ResponseWriter, r *http.Request, status int, format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	f.report(r, status, why)
	http.Error(w, why, status)
}

// refusals warns about requests that were refused. If there are more than maxRefusals in a second, it warns only about
// their number.
type refusals struct {
	c        transport.Config
	mu       sync.Mutex
	since    time.Time
	reported int
	left     int // how many refusals of this second had no warning
}

const maxRefusals = 10

// report reports the refusal of the request r.
func (f *refusals) report(r *http.Request, status int, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.since) > time.Second {
		if f.left > 0 {
			f.c.Warnf("more refused requests: %d", f.left)
		}
		f.since, f.reported, f.left = now, 0, 0
	}
	if f.reported == maxRefusals {
		f.left++
		return
	}
	f.reported++
	f.c.Warnf("refused %s: %d, %s", cmp.Or(strings.Trim(r.RemoteAddr, "@"), "a client"), status, why) // on a Unix socket, the address is "@"
}

// preflight responds to a browser's CORS preflight request for a POST of JSON. The response lists the allowed methods and
// headers, including those of MCP over HTTP.
func (g *guard) preflight(w http.ResponseWriter, from string) {
	allowOrigin(w, from)
	w.Header().Set("Access-Control-Allow-Methods", g.methods())
	w.Header().Set("Access-Control-Allow-Headers",
		"Content-Type, Authorization, Accept, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID")
	w.WriteHeader(http.StatusNoContent)
}

func allowOrigin(w http.ResponseWriter, from string) {
	w.Header().Set("Access-Control-Allow-Origin", from)
	w.Header().Set("Access-Control-Expose-Headers", "Mcp-Session-Id")
	w.Header().Add("Vary", "Origin")
}
