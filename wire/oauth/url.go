// Package oauth logs in to HTTP endpoints with OAuth 2.1: it discovers the authorization server of an endpoint, gets tokens,
// keeps them, and renews them. It follows RFC 6749, 6750, 7009, 7591, 8414, 8628, 8707, 9207 and 9728, and the authorization of
// the Model Context Protocol.
package oauth

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// Resource returns the URL by which authorization servers know an endpoint, without query; a usage Fault if the endpoint is not
// an address of http, https, ws or wss.
func Resource(a transport.Address) (*url.URL, error) {
	scheme, ok := map[string]string{"http": "http", "ws": "http", "https": "https", "wss": "https"}[a.Scheme]
	if !ok {
		return nil, wire.Usagef("a login is for http, https, ws and wss, not for %s:", a.Scheme)
	}
	path, _, _ := strings.Cut(a.URLPath, "?")
	u, err := url.Parse(scheme + "://" + strings.ToLower(a.Host) + strings.TrimSuffix(path, "/"))
	if err != nil {
		return nil, wire.Usagef("%s: is not a URL", a)
	}
	if err := confidential(u); err != nil {
		return nil, err
	}
	return u, nil
}

// confidential returns a Fault if other machines could read what is sent to u: only https, or http to this machine, is safe.
func confidential(u *url.URL) error {
	if u.Scheme == "https" && u.Host != "" || u.Scheme == "http" && isLoopback(u.Hostname()) {
		return nil
	}
	f := wire.NewFault(wire.Auth, "no login for "+u.Scheme+"://"+u.Host+": tokens are sent over https, or to this machine", nil)
	return f
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// covers reports whether the token of a resource is for a URL: both have one origin, and the path is at or below the
// resource's.
func covers(resource string, u *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || transport.Origin(r) != transport.Origin(u) {
		return false
	}
	base, path := strings.TrimSuffix(r.EscapedPath(), "/"), u.EscapedPath()
	return path == base || strings.HasPrefix(path, base+"/") && !strings.Contains(u.Path, "/..")
}

// wellKnown inserts the path of a well-known URI before the path of u (RFC 8615).
func wellKnown(u *url.URL, name string) string {
	return u.Scheme + "://" + u.Host + "/.well-known/" + name + strings.TrimSuffix(u.EscapedPath(), "/")
}

// isPrivate reports whether an address is inside a network of its own: of this machine, of a private network, or of a link.
func isPrivate(at netip.Addr) bool {
	at = at.Unmap()
	shared := netip.MustParsePrefix("100.64.0.0/10") // RFC 6598
	return !at.IsValid() || at.IsLoopback() || at.IsPrivate() || at.IsLinkLocalUnicast() || at.IsUnspecified() || shared.Contains(at)
}
