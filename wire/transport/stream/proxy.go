package stream

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/proxy"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/transport"
)

// Connect connects to the socket of a or, if a has none, to hostPort, through a proxy if one is configured.
func Connect(ctx context.Context, c transport.Config, a transport.Address, hostPort string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.ConnectTimeout)
	defer cancel()
	if a.Path != "" {
		return dialUnix(ctx, a.Path)
	}
	d := new(net.Dialer)
	if c.Ping > 0 && (a.Scheme == "tcp" || a.Scheme == "tls") { // WebSockets have pings of their own
		d.KeepAliveConfig = keepAlive(c.Ping)
	}
	if p, err := Forwarder(c.Route, a, &url.URL{Scheme: "http", Host: a.Host}); err == nil && p != nil {
		through(c, p)
		return d.DialContext(ctx, "tcp", resolved(c.Route, transport.HostPort(p))) // the caller adds TLS
	}
	p, err := proxyFor(c.Route, a.Scheme, hostPort)
	if err != nil {
		return nil, err
	}
	to := resolved(c.Route, hostPort)
	if to != hostPort {
		c.Watch.Tellf("resolve", "%s is resolved to %s (--resolve)", hostPort, to)
	}
	if p == nil {
		return d.DialContext(ctx, "tcp", to)
	}
	through(c, p)
	if strings.HasPrefix(p.Scheme, "socks5") {
		return socks(ctx, c, d, p, to)
	}
	return tunnel(ctx, c, d, p, to)
}

// through reports the use of a proxy. Its credentials are masked wherever the proxy or the peer repeats them.
func through(c transport.Config, p *url.URL) {
	if p.User != nil {
		redact.SentHeader(http.Header{"Proxy-Authorization": {transport.BasicAuth(p.User)}})
	}
	c.Watch.Tellf("proxy", "through the proxy %s://%s", p.Scheme, transport.HostPort(p))
}

// Forwarder returns the HTTP proxy to which a request to a must be sent with its complete URL u. It returns nil if the
// request has a connection to the server, which may lead through a proxy. HTTP proxies forward unencrypted requests.
// Many do not support upgrades, for which CONNECT is used instead, as RFC 6455 recommends.
func Forwarder(r transport.Route, a transport.Address, u *url.URL) (*url.URL, error) {
	if a.Scheme != "http" {
		return nil, nil
	}
	hostPort := transport.HostPort(u)
	p, err := proxyFor(r, "http", hostPort)
	if err != nil || p == nil || strings.HasPrefix(p.Scheme, "socks5") || resolved(r, hostPort) != hostPort {
		return nil, err
	}
	return p, nil
}

// proxyConn connects to a proxy.
func proxyConn(ctx context.Context, c transport.Config, d *net.Dialer, p *url.URL) (net.Conn, error) {
	conn, err := d.DialContext(ctx, "tcp", resolved(c.Route, transport.HostPort(p)))
	if err != nil {
		return nil, viaProxy(err)
	}
	if p.Scheme != "https" {
		return conn, nil
	}
	cfg, err := c.TLS.Client(serverName(p.Hostname()))
	if err == nil {
		secure := tls.Client(conn, cfg)
		if err = secure.HandshakeContext(ctx); err == nil {
			return secure, nil
		}
		err = viaProxy(err)
	}
	_ = conn.Close()
	return nil, err
}

// viaProxy marks err as a failure to reach a proxy, and keeps the proxy's address.
func viaProxy(err error) error {
	marked := &net.OpError{Op: "proxyconnect", Net: "tcp", Err: err}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		marked.Addr = op.Addr
	}
	return marked
}

// tunnel sends CONNECT to an HTTP proxy, which then connects to an address.
func tunnel(ctx context.Context, c transport.Config, d *net.Dialer, p *url.URL, to string) (net.Conn, error) {
	conn, err := proxyConn(ctx, c, d, p)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to}, Host: to, Header: http.Header{"User-Agent": {"rpcx"}}}
	if u := p.User; u != nil {
		req.Header.Set("Proxy-Authorization", transport.BasicAuth(u))
	}
	c.Watch.Requested("", "CONNECT", to, "HTTP/1.1", append([]string{"Host: " + to}, transport.HeadLines(req.Header)...))
	asked := time.Now()
	if err = req.Write(conn); err == nil {
		// It reads byte by byte, because the bytes after the head come from the peer.
		var resp *http.Response
		if resp, err = finalResponse(bufio.NewReader(io.LimitReader(oneByte{conn}, 64<<10)), req); err == nil {
			c.Watch.Answered("", resp.StatusCode, resp.Proto, resp.Header, time.Since(asked))
			if resp.StatusCode/100 == 2 {
				return conn, nil
			}
			err = ProxyRefused(p, resp, nil)
		}
	}
	_ = conn.Close()
	if wire.AsFault(err) == nil {
		err = viaProxy(err)
	}
	return nil, err
}

// finalResponse reads a response and skips interim responses, such as 100 Continue.
func finalResponse(in *bufio.Reader, req *http.Request) (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(in, req)
		if err != nil || resp.StatusCode/100 != 1 {
			return resp, err
		}
	}
}

// ProxyRefused returns the Fault for a proxy that has refused a request with resp, which contains body.
func ProxyRefused(p *url.URL, resp *http.Response, body []byte) *wire.Fault {
	f := transport.HTTPFault("the proxy "+p.Host+" refused", resp, body)
	f.Unreached = f.Kind == wire.Unreachable
	if resp.StatusCode == http.StatusProxyAuthRequired {
		f.Hint = "send credentials with --proxy " + p.Scheme + "://USER:PASSWORD@" + p.Host
	}
	return f
}

// socks connects to an address through a SOCKS 5 proxy (RFC 1928). The proxy resolves the host name.
func socks(ctx context.Context, c transport.Config, d *net.Dialer, p *url.URL, to string) (net.Conn, error) {
	var auth *proxy.Auth
	if u := p.User; u != nil {
		password, _ := u.Password()
		auth = &proxy.Auth{User: u.Username(), Password: password}
	}
	var unreached error // package proxy wraps it
	reach := func(ctx context.Context) (conn net.Conn, err error) {
		conn, err = proxyConn(ctx, c, d, p)
		unreached = err
		return conn, err
	}
	s, err := proxy.SOCKS5("tcp", transport.HostPort(p), auth, forward(reach))
	if err != nil {
		return nil, err
	}
	conn, err := s.(proxy.ContextDialer).DialContext(ctx, "tcp", to)
	if err == nil {
		c.Watch.Tellf("proxy", "the proxy has connected to %s", to)
		return conn, nil
	}
	if unreached != nil {
		return nil, unreached
	}
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return nil, viaProxy(err)
	}
	err = transport.Root(err)
	f := wire.NewFault(wire.Unreachable, "the proxy "+p.Host+" did not connect to "+to+": "+strings.TrimPrefix(err.Error(), "unknown error "), err)
	f.Unreached = true
	if strings.Contains(err.Error(), "auth") {
		f.Kind, f.Unreached = wire.Auth, false
		f.Hint = "send credentials with --proxy socks5://USER:PASSWORD@" + p.Host
	}
	return nil, f
}

// A forward connects to one proxy, whatever the address.
type forward func(context.Context) (net.Conn, error)

// Dial implements proxy.Dialer.
func (f forward) Dial(_, _ string) (net.Conn, error) { return f(context.Background()) }

// DialContext implements proxy.ContextDialer.
func (f forward) DialContext(ctx context.Context, _, _ string) (net.Conn, error) { return f(ctx) }

// oneByte reads one byte at a time.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }
