package httpclient

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
	"rpcx/wire/transport/stream"
)

// Anywhere returns a client for http and https URLs on any host. It connects with the settings in c. It does not send
// the headers, tokens or certificates in c, and is not traced. allow, which may be nil, can refuse an address before a
// request is sent; it is not called for proxies. For GET, the client follows at most five redirects within one origin.
func Anywhere(c transport.Config, allow func(ctx context.Context, host string, at netip.Addr) error) *http.Client {
	c.Header, c.Watch, c.HTTPObserver, c.TLS.Cert, c.TLS.Key = nil, nil, transport.HTTPObserver{}, "", ""
	return &http.Client{
		Transport: &anywhere{c: c.WithDefaults(), allow: allow, origins: map[string]*http.Client{}},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if via[0].Method != http.MethodGet || transport.Origin(req.URL) != transport.Origin(via[0].URL) {
				return http.ErrUseLastResponse
			}
			if len(via) > maxRedirects {
				return wire.NewFault(wire.Unreachable, req.URL.Host+": redirected too often", nil)
			}
			return nil
		},
	}
}

// anywhere has one client for each origin.
type anywhere struct {
	c     transport.Config
	allow func(ctx context.Context, host string, at netip.Addr) error

	mu      sync.Mutex
	origins map[string]*http.Client
}

// RoundTrip implements http.RoundTripper.
func (t *anywhere) RoundTrip(req *http.Request) (*http.Response, error) {
	a := transport.Address{Scheme: req.URL.Scheme, Host: req.URL.Host, URLPath: "/"}
	client, err := t.client(req.Context(), a)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", "rpcx")
	return client.Transport.RoundTrip(req)
}

func (t *anywhere) client(ctx context.Context, a transport.Address) (*http.Client, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	origin := a.Scheme + "://" + a.Host
	if client := t.origins[origin]; client != nil {
		return client, nil
	}
	d, err := NewDialer(a, t.c)
	if err != nil {
		return nil, err
	}
	if !d.isPrivate() {
		return nil, wire.Usagef("%s uses http: rpcx sends it neither through a proxy nor to another address, because these would see secrets", origin)
	}
	t.origins[origin] = d.Client(func(conn net.Conn) net.Conn {
		if t.allow == nil || len(stream.Hosts(t.c.Route, a)) > 1 {
			return conn
		}
		at, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
		if err := t.allow(ctx, a.Host, at.Addr()); err != nil {
			return refusedConn{conn, err}
		}
		return conn
	})
	return t.origins[origin], nil
}

// CloseIdleConnections implements wire.IdleCloser.
func (t *anywhere) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, client := range t.origins {
		client.CloseIdleConnections()
	}
}

// A refusedConn fails at the first write.
type refusedConn struct {
	net.Conn
	err error
}

// Write implements io.Writer.
func (c refusedConn) Write([]byte) (int, error) { return 0, c.err }

// httpSchemes maps each scheme for WebSockets to the scheme for a GET request.
var httpSchemes = map[string]string{"ws": "http", "wss": "https", "ws+unix": "http+unix"}

// Get returns the body of the 200 response to a GET of path. a is the address of an HTTP or WebSocket server. The body
// may have at most c.Options.MaxMessage bytes. Errors are the same Faults as those of a POST.
func Get(ctx context.Context, a transport.Address, path string, c transport.Config) ([]byte, error) {
	if scheme, ok := httpSchemes[a.Scheme]; ok {
		a.Scheme = scheme
	}
	if !a.IsHTTP() {
		return nil, wire.Usagef("%s: is not an HTTP address", a.Scheme)
	}
	a, err := a.At(path)
	if err != nil {
		return nil, err
	}
	c = c.WithDefaults()
	conn, err := Dial(ctx, a, c)
	if err != nil {
		return nil, err
	}
	h := conn.(*httpConn)
	defer h.Close()
	ctx, cancel := context.WithTimeout(ctx, c.ConnectTimeout)
	defer cancel()
	req, _, err := h.request(ctx, http.MethodGet, h.URL, nil)
	if err != nil {
		return nil, err
	}
	setDefault(req.Header, "Accept", "application/json")
	resp, err := h.http.Do(req)
	if err != nil {
		return nil, h.notAnswered(ctx, false, false, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, h.refusal(resp, h.readRefusal(resp.Body, resp.Header.Get("Content-Type")))
	}
	body, err := httpbody.Read(resp.Body, resp.ContentLength, h.max)
	return body, h.broken(err)
}
