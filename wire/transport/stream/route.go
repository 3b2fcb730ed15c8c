package stream

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

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
