package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"rpcx/wire"
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
	tunnel     atomic.Pointer[url.URL] // the proxy that the next connection goes through, by CONNECT
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
func (d *httpDialer) client(proxy func(*http.Request) (*url.URL, error)) *http.Client {
	if d.a.Path != "" {
		proxy = nil
	}
	return &http.Client{CheckRedirect: d.redirect, Transport: d.c.observed(&http.Transport{
		Proxy:                  proxy,
		DialContext:            d.dial,
		TLSClientConfig:        d.tls,
		TLSHandshakeTimeout:    d.c.connectTimeout(),
		MaxIdleConnsPerHost:    128,
		IdleConnTimeout:        90 * time.Second,
		ReadBufferSize:         64 << 10,
		WriteBufferSize:        64 << 10,
		MaxResponseHeaderBytes: 1 << 20,
		OnProxyConnectResponse: proxyRefused,
	})}
}

// redirectsMost bounds the redirects that are followed for one request.
const redirectsMost = 5

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
	case len(via) > redirectsMost:
		return wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: redirected more than %d times", d.where, redirectsMost), nil)
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
			to += "?…" // which may hold secrets
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

// tunnelled is http.ProxyFromEnvironment, but ws:// too goes through a
// proxy by CONNECT, as RFC 6455 has it: many proxies forward no upgrade. What
// Go's transport cannot do for a URL without TLS is left to dial.
func (d *httpDialer) tunnelled() func(*http.Request) (*url.URL, error) {
	return func(req *http.Request) (*url.URL, error) {
		d.tunnel.Store(nil)
		p, err := http.ProxyFromEnvironment(req)
		if p == nil || err != nil || req.URL.Scheme != "http" || p.Scheme != "http" {
			return p, err
		}
		d.tunnel.Store(p)
		return nil, nil
	}
}

// dial connects to the socket, or to addr, or to a proxy's tunnel to addr.
func (d *httpDialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nd := &net.Dialer{Timeout: d.c.connectTimeout()}
	if d.a.Path != "" {
		network, addr = "unix", unixName(d.a.Path)
	}
	if p := d.tunnel.Load(); p != nil {
		return d.connect(ctx, nd, p, addr)
	}
	conn, err := nd.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return d.wrapped(conn), nil
}

// wrapped puts what a WebSocket needs around a connection.
func (d *httpDialer) wrapped(conn net.Conn) net.Conn {
	if d.a.webSocket() {
		return &wsNet{Conn: conn}
	}
	return conn
}

// connect asks a proxy for a tunnel to addr.
func (d *httpDialer) connect(ctx context.Context, nd *net.Dialer, proxy *url.URL, addr string) (net.Conn, error) {
	at := proxy.Host
	if proxy.Port() == "" {
		at = net.JoinHostPort(proxy.Hostname(), "80")
	}
	conn, err := nd.DialContext(ctx, "tcp", at)
	if err != nil {
		return nil, &net.OpError{Op: "proxyconnect", Net: "tcp", Err: err}
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		req.Header.Set("Proxy-Authorization", basicAuth(u.Username(), password))
	}
	if err := req.Write(conn); err != nil {
		conn.Close()
		return nil, &net.OpError{Op: "proxyconnect", Net: "tcp", Err: err}
	}
	// Byte by byte: what follows the answer's head belongs to the far side.
	resp, err := http.ReadResponse(bufio.NewReader(io.LimitReader(oneByte{conn}, 64<<10)), req)
	if err == nil {
		err = proxyRefused(ctx, proxy, req, resp)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return d.wrapped(conn), nil
}

// proxyRefused makes a Fault of what a proxy answers to CONNECT, but for 200.
func proxyRefused(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return httpFault("the proxy "+proxy.Host+" refused", resp, nil)
}

// oneByte reads a byte at a time.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }
