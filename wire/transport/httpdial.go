package transport

import (
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
)

// webSocket reports whether the address is one of a WebSocket.
func (a Address) webSocket() bool { return strings.HasPrefix(a.Scheme, "ws") }

// An httpDialer holds what the clients of WebSocket and HTTP have in common:
// where to, with which headers, and how to get a connection there.
type httpDialer struct {
	a          Address
	c          Config
	url        string      // without userinfo
	where      string      // for people: without userinfo and the query's values
	header     http.Header // our own copy
	hostHeader string      // a Host given as a header; "" leaves it to the URL
	tls        *tls.Config
}

func newHTTPDialer(a Address, c Config) (*httpDialer, error) {
	d := &httpDialer{a: a, c: c, where: a.String(), header: c.Header.Clone()}
	if d.header == nil {
		d.header = http.Header{}
	}
	scheme, host := "http", a.Host
	switch a.Scheme {
	case "wss", "https":
		scheme = "https"
	case "ws+unix", "http+unix":
		host = "localhost"
	}
	path := a.URLPath
	if path == "" {
		path = "/"
	}
	d.url = scheme + "://" + host + path
	if _, err := url.Parse(d.url); err != nil {
		return nil, usage("%s: not a valid address", d.where)
	}
	if d.hostHeader = d.header.Get("Host"); d.hostHeader != "" {
		d.header.Del("Host")
	}
	if a.User != nil && d.header.Get("Authorization") == "" {
		password, _ := a.User.Password()
		d.header.Set("Authorization", basicAuth(a.User.Username(), password))
	}
	if _, ok := d.header["User-Agent"]; !ok {
		d.header.Set("User-Agent", "rpcx")
	}
	var err error
	d.tls, err = c.TLS.client("")
	return d, err
}

// client returns an http.Client whose connections are not shared with any other. It
// speaks HTTP/1.1 only: over HTTP/2 the alert by which a server refuses our
// certificate is lost.
func (d *httpDialer) client() *http.Client {
	return &http.Client{CheckRedirect: d.redirect, Transport: d.c.observed(d.c.watched(&http.Transport{
		Proxy:                  d.forwards,
		DialContext:            d.dial,
		TLSClientConfig:        d.tls,
		TLSHandshakeTimeout:    d.c.connectTimeout(),
		MaxIdleConnsPerHost:    128,
		IdleConnTimeout:        90 * time.Second,
		ReadBufferSize:         64 << 10,
		WriteBufferSize:        64 << 10,
		MaxResponseHeaderBytes: 1 << 20,
	}))}
}

// maxRedirects bounds the redirects that are followed for one request.
const maxRedirects = 5

// redirect follows 307 and 308 within one origin: the address is another path of
// the server that the user named. Any other redirect would carry params, or a
// whole conversation, to somebody whom the user did not name, or repeat a POST
// as a GET. It is not followed, and its answer becomes the failure (redirected).
func (d *httpDialer) redirect(req *http.Request, via []*http.Request) error {
	from := via[0].URL
	permanent := req.Response.StatusCode == http.StatusTemporaryRedirect || req.Response.StatusCode == http.StatusPermanentRedirect
	switch {
	case !permanent || origin(req.URL) != origin(from):
		return http.ErrUseLastResponse
	case len(via) > maxRedirects:
		return wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: redirected more than %d times", d.where, maxRedirects), nil)
	}
	req.Header.Del("Referer") // which holds the query
	return nil
}

// origin returns scheme, host and port of u, by which redirects and pages are told
// apart.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// redirected returns the Fault of an answer that sends us to another address, which
// it names.
func (d *httpDialer) redirected(resp *http.Response) error {
	to := "nowhere"
	if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.String() != "" {
		u = resp.Request.URL.ResolveReference(u)
		to = u.Scheme + "://" + u.Host + u.EscapedPath()
		if u.RawQuery != "" {
			to += "?" + redact.Mark // which may hold secrets
		}
		if d.a.webSocket() && strings.HasPrefix(to, "http") {
			to = "ws" + strings.TrimPrefix(to, "http")
		}
	}
	f := wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: %d %s to %s, which is not followed",
		d.where, resp.StatusCode, http.StatusText(resp.StatusCode), to), nil)
	f.HTTP = &wire.HTTP{Status: resp.StatusCode}
	if strings.HasPrefix(to, "http") || strings.HasPrefix(to, "ws") {
		f.Hint = "name that address"
	}
	return f
}

// forwards returns the proxy that a request is sent to as it is, with its whole URL; nil: it is sent over a connection of
// its own, which may go through a proxy, too. A proxy of HTTP forwards what is not encrypted, but no upgrades: many
// cannot, so that those go by CONNECT, as RFC 6455 has it.
func (d *httpDialer) forwards(req *http.Request) (*url.URL, error) {
	if d.a.Scheme != "http" {
		return nil, nil
	}
	hostPort := hostPortOf(req.URL)
	p, err := d.c.proxyFor("http", hostPort)
	if err != nil || p == nil || strings.HasPrefix(p.Scheme, "socks5") || d.c.resolved(hostPort) != hostPort {
		return nil, err
	}
	return p, nil
}

// hostPortOf returns host:port of a URL.
func hostPortOf(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// dial connects to the socket, or to addr, through a proxy where there is one.
func (d *httpDialer) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	conn, err := d.under(ctx, addr)
	if err != nil {
		return nil, err
	}
	if d.a.webSocket() {
		return &wsNet{Conn: conn}, nil
	}
	return &eofNoter{Conn: conn}, nil
}

func (d *httpDialer) under(ctx context.Context, addr string) (net.Conn, error) {
	nd := &net.Dialer{Timeout: d.c.connectTimeout()}
	if d.a.Path != "" {
		return nd.DialContext(ctx, "unix", unixName(d.a.Path))
	}
	if p, err := d.forwards(&http.Request{URL: &url.URL{Scheme: "http", Host: d.a.Host}}); err == nil && p != nil {
		d.c.Watch.tell("proxy", "through the proxy %s://%s", p.Scheme, proxyAddress(p))
		return nd.DialContext(ctx, "tcp", d.c.resolved(addr)) // which is the proxy's
	}
	return d.c.connect(ctx, d.a.Scheme, addr)
}
