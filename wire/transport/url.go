package transport

import (
	"net"
	"net/url"
	"strings"
)

// DefaultPorts contains the default port of each scheme of URLs, including those of proxies.
var DefaultPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// HostPort returns the host:port of a URL. If the URL has no port, it adds the default port of the scheme.
func HostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), DefaultPorts[u.Scheme])
}

// Origin returns the scheme, host and port of u.
func Origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(HostPort(u)) }
