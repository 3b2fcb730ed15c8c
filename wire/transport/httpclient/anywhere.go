package httpclient

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
	"rpcx/wire/transport/stream"
)

// Anywhere returns a client for http and https URLs on any host. It connects with the settings in c. It does not send
// the headers, tokens or certificates in c, and is not traced. allow can refuse an address before a request is sent; it is
// not called for proxies. For GET, the client follows at most five redirects within one origin.
func Anywhere(c transport.Config, allow func(ctx context.Context, host string, at netip.Addr) error) *http.Client {
	c.Header, c.Watch, c.TLS.Cert, c.TLS.Key = nil, nil, "", ""
	cfg, err := c.TLS.Client("")
	t := &anywhere{Transport: newTransport(c, cfg, addressIn), route: c.Route, err: err}
	connect := t.DialContext
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := connect(ctx, network, addr)
		to := addressIn(ctx)
		if err != nil || len(stream.Hosts(c.Route, to)) > 1 {
			return conn, err
		}
		at, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
		if err := allow(ctx, to.Host, at.Addr()); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return conn, nil
	}
	return &http.Client{
		Transport: t,
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

// anywhere is a transport that finds the address of a request in its context.
type anywhere struct {
	*http.Transport
	route transport.Route
	err   error // why no request can be sent, or nil
}

type addressKey struct{}

func addressIn(ctx context.Context) transport.Address {
	return ctx.Value(addressKey{}).(transport.Address)
}

// RoundTrip implements http.RoundTripper.
func (t *anywhere) RoundTrip(req *http.Request) (*http.Response, error) {
	to := transport.Address{Scheme: req.URL.Scheme, Host: req.URL.Host}
	switch {
	case t.err != nil:
		return nil, t.err
	case !isPrivate(t.route, to):
		return nil, wire.Usagef("%s://%s uses http: rpcx sends it neither through a proxy nor to another address, because these would see secrets", to.Scheme, to.Host)
	}
	req = req.Clone(context.WithValue(req.Context(), addressKey{}, to))
	req.Header.Set("User-Agent", "rpcx")
	return t.Transport.RoundTrip(req)
}

// Get returns the body of the 200 response to a GET of path. a is the address of an HTTP or WebSocket server. The body
// may have at most c.Options.MaxMessage bytes. Errors are the same Faults as those of a POST.
func Get(ctx context.Context, a transport.Address, path string, c transport.Config) ([]byte, error) {
	a.Scheme = strings.Replace(a.Scheme, "ws", "http", 1) // ws, wss and ws+unix are requested as http, https and http+unix
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
	return body, broken(h.Where, err)
}
