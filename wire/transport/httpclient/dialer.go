package httpclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/transport"
	"rpcx/wire/transport/stream"
)

// A Dialer contains what WebSocket and HTTP clients have in common: the address, the headers, and how to connect.
type Dialer struct {
	a          transport.Address
	c          transport.Config
	URL        string      // without userinfo
	Where      string      // for messages to the user; without userinfo and the values in the query
	Header     http.Header // a copy
	HostHeader string      // the value of the Host header; if "", the host of the URL
	tls        *tls.Config
	explain    func(error) error // replaces the error of a TLS handshake
	transport  *http.Transport   // below the client that Client has returned
}

func NewDialer(a transport.Address, c transport.Config) (*Dialer, error) {
	d := &Dialer{a: a, c: c, Where: a.String(), Header: c.Header.Clone()}
	if d.Header == nil {
		d.Header = http.Header{}
	}
	scheme, host := "http", a.Host
	switch a.Scheme {
	case "wss", "https":
		scheme = "https"
	case "ws+unix", "http+unix":
		host = "localhost"
	}
	path := cmp.Or(a.URLPath, "/")
	d.URL = scheme + "://" + host + path
	if _, err := url.Parse(d.URL); err != nil {
		return nil, wire.Usagef("%s: not a valid address", d.Where)
	}
	d.HostHeader = d.Header.Get("Host")
	d.Header.Del("Host")
	if a.User != nil {
		if d.Header.Get("Authorization") == "" {
			d.Header.Set("Authorization", transport.BasicAuth(a.User))
		}
		password, _ := a.User.Password()
		redact.Sent(password)
	}
	redact.SentHeader(d.Header)
	if _, query, ok := strings.Cut(a.URLPath, "?"); ok {
		redact.SentQuery(query)
	}
	setDefault(d.Header, "User-Agent", "rpcx")
	var err error
	if d.tls, err = c.TLS.Client(""); err != nil {
		return nil, err
	}
	d.explain = transport.NoteRequests(d.tls)
	return d, nil
}

// Fault returns the Fault for a request that has no response.
func (d *Dialer) Fault(ctx context.Context, err error) *wire.Fault {
	return transport.DialFault(ctx, d.Where, d.c.ConnectTimeout, d.explain(err))
}

// Client returns an http.Client that has connections of its own. wrap, which may be nil, wraps each connection. The
// client uses only HTTP/1.1, because with HTTP/2 the alert would be lost with which a server refuses the client
// certificate.
func (d *Dialer) Client(wrap func(net.Conn) net.Conn) *http.Client {
	d.transport = newTransport(d.c, d.tls, func(context.Context) transport.Address { return d.a })
	if wrap != nil {
		connect := d.transport.DialContext
		d.transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := connect(ctx, network, addr)
			if err == nil {
				conn = wrap(conn)
			}
			return conn, err
		}
	}
	return &http.Client{CheckRedirect: d.redirect, Transport: observed(d.withToken(d.transport), d.c)}
}

// CloseIdle closes the idle connections of the client.
func (d *Dialer) CloseIdle() { d.transport.CloseIdleConnections() }

// newTransport returns a transport that connects with the settings in c. to returns the address for a request's context.
func newTransport(c transport.Config, cfg *tls.Config, to func(context.Context) transport.Address) *http.Transport {
	return &http.Transport{
		Proxy: func(req *http.Request) (*url.URL, error) {
			return stream.Forwarder(c.Route, to(req.Context()), req.URL)
		},
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return stream.Connect(ctx, c, to(ctx), addr)
		},
		TLSClientConfig:        cfg,
		TLSHandshakeTimeout:    c.ConnectTimeout,
		MaxIdleConnsPerHost:    128,
		MaxConnsPerHost:        maxConnections(),
		IdleConnTimeout:        90 * time.Second,
		ReadBufferSize:         64 << 10,
		WriteBufferSize:        64 << 10,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// maxRedirects is the maximum number of redirects that one request follows.
const maxRedirects = 5

// redirect follows the statuses 307 and 308 within one origin. Other redirects could lead to a server that the user has
// not named, or repeat a POST as a GET. They are failures (see Redirected).
func (d *Dialer) redirect(req *http.Request, via []*http.Request) error {
	from := via[0].URL
	permanent := req.Response.StatusCode == http.StatusTemporaryRedirect || req.Response.StatusCode == http.StatusPermanentRedirect
	switch {
	case !permanent || transport.Origin(req.URL) != transport.Origin(from):
		return http.ErrUseLastResponse
	case len(via) > maxRedirects:
		return wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: redirected more than %d times", d.Where, maxRedirects), nil)
	}
	req.Header.Del("Referer") // it would contain the query
	return nil
}

// Redirected returns the Fault for a redirect that is not followed, with the address to which it leads. For any other
// response, it returns nil.
func (d *Dialer) Redirected(resp *http.Response) error {
	if resp.StatusCode/100 != 3 || resp.Header.Get("Location") == "" {
		return nil
	}
	to := "nowhere"
	if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.String() != "" {
		u = resp.Request.URL.ResolveReference(u)
		to = u.Scheme + "://" + u.Host + u.EscapedPath()
		if u.RawQuery != "" {
			to += "?" + redact.Mark // the query could contain secrets
		}
		if d.a.WebSocket() && strings.HasPrefix(to, "http") {
			to = "ws" + strings.TrimPrefix(to, "http")
		}
	}
	f := wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: %d %s to %s, which rpcx does not follow",
		d.Where, resp.StatusCode, http.StatusText(resp.StatusCode), to), nil)
	f.HTTP = &wire.HTTP{Status: resp.StatusCode}
	if strings.HasPrefix(to, "http") || strings.HasPrefix(to, "ws") {
		f.Hint = "use that address if you trust it"
	}
	return f
}
