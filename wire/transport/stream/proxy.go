package stream

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// proxyPorts are the kinds of proxies, with their usual ports.
var proxyPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// ParseProxy reads the address of a proxy, [SCHEME://][USER:PASSWORD@]HOST[:PORT]. SCHEME is http, the default, or https,
// which are asked to CONNECT, or socks5 or socks5h, which both look the name up over there. The errors hold no password.
func ParseProxy(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is no URL such as http://127.0.0.1:3128")
	}
	if proxyPorts[u.Scheme] == "" {
		return nil, fmt.Errorf("%q is no kind of proxy: http, https, socks5 and socks5h are", u.Scheme)
	}
	if u.Hostname() == "" || u.RequestURI() != "/" && u.RequestURI() != "" {
		return nil, errors.New("a proxy is a host and a port, such as http://127.0.0.1:3128")
	}
	return u, nil
}

// ParseResolve reads HOST:PORT:ADDRESS, as curl has it, into the key and the value of Route.Resolve.
func ParseResolve(text string) (hostPort, address string, err error) {
	host, rest, ok := strings.Cut(text, ":")
	if strings.HasPrefix(text, "[") { // an IPv6 address has no name to look up, but may be led elsewhere
		host, rest, ok = strings.Cut(strings.TrimPrefix(text, "["), "]:")
	}
	port, address, more := strings.Cut(rest, ":")
	address = strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
	_, portErr := strconv.ParseUint(port, 10, 16)
	if !ok || !more || host == "" || portErr != nil || net.ParseIP(address) == nil {
		return "", "", fmt.Errorf("%q is not HOST:PORT:ADDRESS, such as example.org:443:127.0.0.1", text)
	}
	return net.JoinHostPort(strings.ToLower(host), port), address, nil
}

// Hosts returns each host:port whose address counts on the way to a: its own, and that of a proxy.
func Hosts(r transport.Route, a transport.Address) []string {
	hostPort := strings.ToLower(transport.HostPort(&url.URL{Scheme: strings.Replace(a.Scheme, "ws", "http", 1), Host: a.Host}))
	if p, err := proxyFor(r, a.Scheme, hostPort); err == nil && p != nil {
		return []string{hostPort, strings.ToLower(proxyAddress(p))}
	}
	return []string{hostPort}
}

// resolved returns the address that is connected to for a host:port.
func resolved(r transport.Route, hostPort string) string {
	if to, ok := r.Resolve[strings.ToLower(hostPort)]; ok {
		_, port, _ := net.SplitHostPort(hostPort)
		return net.JoinHostPort(to, port)
	}
	return hostPort
}

// proxyFor returns the proxy for a host:port that scheme is spoken with; nil: there is none. The environment is that
// of curl: http_proxy for http and ws, https_proxy for https and wss, all_proxy where those are not set and for the
// others, and no_proxy, each in small letters or, but for http_proxy in a CGI program, in capitals.
func proxyFor(r transport.Route, scheme, hostPort string) (*url.URL, error) {
	if r.Proxy != nil || r.Direct {
		return r.Proxy, nil
	}
	env := httpproxy.FromEnvironment()
	all := os.Getenv("all_proxy")
	if all == "" {
		all = os.Getenv("ALL_PROXY")
	}
	as := "https"
	switch scheme {
	case "http", "ws":
		as = "http"
	case "tcp", "tls":
		env.HTTPSProxy = ""
	}
	if env.HTTPProxy == "" && !env.CGI {
		env.HTTPProxy = all
	}
	if env.HTTPSProxy == "" {
		env.HTTPSProxy = all
	}
	u, err := env.ProxyFunc()(&url.URL{Scheme: as, Host: hostPort})
	if err != nil || u == nil {
		return nil, err
	}
	if u, err = ParseProxy(u.String()); err != nil {
		return nil, transport.Usage("the proxy that the environment names: %v", err)
	}
	return u, nil
}

// proxyAddress returns the host and the port of a proxy.
func proxyAddress(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), proxyPorts[u.Scheme])
}

// connect connects to hostPort, with which scheme is spoken, through a proxy where there is one.
func Connect(ctx context.Context, c transport.Config, scheme, hostPort string) (net.Conn, error) {
	p, err := proxyFor(c.Route, scheme, hostPort)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.ConnectTimeout)
	defer cancel()
	d := new(net.Dialer)
	if scheme == "tcp" || scheme == "tls" { // a WebSocket has pings of its own
		d.KeepAliveConfig = keepAlive(c.Ping)
	}
	to := resolved(c.Route, hostPort)
	if to != hostPort {
		c.Watch.Tellf("resolve", "%s is taken to be at %s (--resolve)", hostPort, to)
	}
	if p == nil {
		return d.DialContext(ctx, "tcp", to)
	}
	c.Watch.Tellf("proxy", "through the proxy %s://%s", p.Scheme, proxyAddress(p))
	if strings.HasPrefix(p.Scheme, "socks5") {
		return socks(ctx, c, d, p, to)
	}
	return tunnel(ctx, c, d, p, to)
}

// forwarder returns the proxy of HTTP that forwards requests to hostPort as they are; nil: there is none. Such a proxy
// forwards what is not encrypted, but no upgrades: many cannot, so that those go by CONNECT, as RFC 6455 has it.
func Forwarder(r transport.Route, hostPort string) (*url.URL, error) {
	p, err := proxyFor(r, "http", hostPort)
	if err != nil || p == nil || strings.HasPrefix(p.Scheme, "socks5") || resolved(r, hostPort) != hostPort {
		return nil, err
	}
	return p, nil
}

// connectForwarder connects to such a proxy, as yet without TLS.
func ConnectForwarder(ctx context.Context, c transport.Config, p *url.URL) (net.Conn, error) {
	c.Watch.Tellf("proxy", "through the proxy %s://%s", p.Scheme, proxyAddress(p))
	return new(net.Dialer).DialContext(ctx, "tcp", resolved(c.Route, proxyAddress(p)))
}

// proxyConn connects to a proxy.
func proxyConn(ctx context.Context, c transport.Config, d *net.Dialer, p *url.URL) (net.Conn, error) {
	conn, err := d.DialContext(ctx, "tcp", resolved(c.Route, proxyAddress(p)))
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

// viaProxy marks an error as that of connecting to a proxy, whose address it keeps.
func viaProxy(err error) error {
	marked := &net.OpError{Op: "proxyconnect", Net: "tcp", Err: err}
	var op *net.OpError
	if errors.As(err, &op) {
		marked.Addr = op.Addr
	}
	return marked
}

// givenUp has conn fail when ctx ends. What it returns undoes that.
func givenUp(ctx context.Context, conn net.Conn) func() {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// tunnel asks a proxy of HTTP to CONNECT to an address.
func tunnel(ctx context.Context, c transport.Config, d *net.Dialer, p *url.URL, to string) (net.Conn, error) {
	conn, err := proxyConn(ctx, c, d, p)
	if err != nil {
		return nil, err
	}
	defer givenUp(ctx, conn)()
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to}, Host: to, Header: http.Header{"User-Agent": {"rpcx"}}}
	if u := p.User; u != nil {
		req.Header.Set("Proxy-Authorization", transport.BasicAuth(u))
	}
	c.Watch.Requested("", "CONNECT", to, "HTTP/1.1", append([]string{"Host: " + to}, transport.HeadLines(req.Header)...))
	asked := time.Now()
	if err = req.Write(conn); err == nil {
		// Byte by byte: what follows the answer's head belongs to the far side.
		var resp *http.Response
		if resp, err = http.ReadResponse(bufio.NewReader(io.LimitReader(oneByte{conn}, 64<<10)), req); err == nil {
			c.Watch.Answered("", resp.StatusCode, resp.Proto, resp.Header, time.Since(asked))
			if resp.StatusCode/100 == 2 {
				return conn, nil
			}
			err = proxyRefused(p, resp)
		}
	}
	_ = conn.Close()
	if wire.AsFault(err) == nil {
		err = viaProxy(err)
	}
	return nil, err
}

// proxyRefused is the Fault of what a proxy answered to CONNECT.
func proxyRefused(p *url.URL, resp *http.Response) *wire.Fault {
	f := transport.HttpFault("the proxy "+p.Host+" refused", resp, nil)
	f.Unreached = f.Kind == wire.Unreachable
	if resp.StatusCode == http.StatusProxyAuthRequired {
		f.Hint = "--proxy " + p.Scheme + "://USER:PASSWORD@" + p.Host + " (or HTTPS_PROXY) says who we are"
	}
	return f
}

// socks asks a proxy of SOCKS 5 (RFC 1928) to connect to an address, whose name it looks up.
func socks(ctx context.Context, c transport.Config, d *net.Dialer, p *url.URL, to string) (net.Conn, error) {
	var auth *proxy.Auth
	if u := p.User; u != nil {
		password, _ := u.Password()
		auth = &proxy.Auth{User: u.Username(), Password: password}
	}
	reach := func(ctx context.Context) (net.Conn, error) { return proxyConn(ctx, c, d, p) }
	s, err := proxy.SOCKS5("tcp", proxyAddress(p), auth, forward(reach))
	if err != nil {
		return nil, err
	}
	conn, err := s.(proxy.ContextDialer).DialContext(ctx, "tcp", to)
	var op *net.OpError
	if err == nil {
		c.Watch.Tellf("proxy", "the proxy has connected to %s", to)
		return conn, nil
	}
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		return nil, op
	}
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return nil, viaProxy(err)
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	f := wire.NewFault(wire.Unreachable, "the proxy "+p.Host+" did not connect to "+to+": "+strings.TrimPrefix(err.Error(), "unknown error "), err)
	f.Unreached = true
	if strings.Contains(err.Error(), "auth") {
		f.Kind, f.Unreached = wire.Auth, false
		f.Hint = "--proxy socks5://USER:PASSWORD@" + p.Host + " (or ALL_PROXY) says who we are"
	}
	return nil, f
}

// A forward connects to a proxy, whatever address it is given.
type forward func(context.Context) (net.Conn, error)

// Dial implements proxy.Dialer.
func (f forward) Dial(_, _ string) (net.Conn, error) { return f(context.Background()) }

// DialContext implements proxy.ContextDialer.
func (f forward) DialContext(ctx context.Context, _, _ string) (net.Conn, error) { return f(ctx) }

// oneByte reads a byte at a time.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }
