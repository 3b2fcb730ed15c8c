package stream

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// ParseProxy parses the address of a proxy: [SCHEME://][USER:PASSWORD@]HOST[:PORT]. SCHEME is http (the default) or https,
// which use CONNECT, or socks5 or socks5h, where the proxy resolves host names. Errors do not contain the password.
func ParseProxy(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is not a URL such as http://127.0.0.1:3128")
	}
	if transport.DefaultPorts[u.Scheme] == "" {
		return nil, fmt.Errorf("unknown proxy scheme %q; use http, https, socks5 or socks5h", u.Scheme)
	}
	if u.Hostname() == "" || u.RequestURI() != "/" && u.RequestURI() != "" {
		return nil, errors.New("a proxy needs a host and a port, such as http://127.0.0.1:3128")
	}
	return u, nil
}

// ParseResolve parses HOST:PORT:ADDRESS, the form that curl uses, to a key and a value of Route.Resolve.
func ParseResolve(text string) (hostPort, address string, err error) {
	host, rest, ok := strings.Cut(text, ":")
	if strings.HasPrefix(text, "[") { // an IPv6 address needs no lookup, but the user may redirect it
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

// Hosts returns each host:port on the route to a: that of a itself, and that of the proxy.
func Hosts(r transport.Route, a transport.Address) []string {
	hostPort := strings.ToLower(transport.HostPort(&url.URL{Scheme: strings.Replace(a.Scheme, "ws", "http", 1), Host: a.Host}))
	if p, err := proxyFor(r, a.Scheme, hostPort); err == nil && p != nil {
		return []string{hostPort, strings.ToLower(transport.HostPort(p))}
	}
	return []string{hostPort}
}

// resolved returns the address to connect to for host:port.
func resolved(r transport.Route, hostPort string) string {
	if to, ok := r.Resolve[strings.ToLower(hostPort)]; ok {
		_, port, _ := net.SplitHostPort(hostPort)
		return net.JoinHostPort(to, port)
	}
	return hostPort
}

// proxyFor returns the proxy for a scheme and a host:port, or nil. It uses the same environment variables as curl:
// http_proxy for http and ws, https_proxy for https and wss, and no_proxy. all_proxy is for other schemes, and for
// these if their own variable is not set. Their names may be in lower or upper case, except that HTTP_PROXY is ignored
// in a CGI program.
func proxyFor(r transport.Route, scheme, hostPort string) (*url.URL, error) {
	if r.Proxy != nil || r.Direct {
		return r.Proxy, nil
	}
	env := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("all_proxy"), os.Getenv("ALL_PROXY"))
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
	env.HTTPSProxy = cmp.Or(env.HTTPSProxy, all)
	u, err := env.ProxyFunc()(&url.URL{Scheme: as, Host: hostPort})
	if err != nil || u == nil {
		return nil, err
	}
	if u, err = ParseProxy(u.String()); err != nil {
		return nil, wire.Usagef("the proxy in the environment: %v", err)
	}
	return u, nil
}
