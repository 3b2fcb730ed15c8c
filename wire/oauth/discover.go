// Package oauth logs in to HTTP endpoints with OAuth 2.1. It discovers the authorization server of an endpoint, and gets,
// stores and renews tokens. It follows RFC 6749, 6750, 7009, 7591, 8414, 8628, 8707, 9207 and 9728, and the authorization of
// the Model Context Protocol.
package oauth

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// Found is the result of discovery.
type Found struct {
	Resource string   // the identifier of the resource, which tokens name
	Scopes   []string // the scopes that the endpoint requests
	Server   Server
}

// Server is the metadata of an authorization server (RFC 8414, OpenID Connect Discovery).
type Server struct {
	Issuer           string   `json:"issuer"`
	Authorization    string   `json:"authorization_endpoint"`
	Token            string   `json:"token_endpoint"`
	Registration     string   `json:"registration_endpoint"`
	Device           string   `json:"device_authorization_endpoint"`
	Revocation       string   `json:"revocation_endpoint"`
	Scopes           []string `json:"scopes_supported"`
	Methods          []string `json:"token_endpoint_auth_methods_supported"`
	Challenges       []string `json:"code_challenge_methods_supported"`
	SendsIssuer      bool     `json:"authorization_response_iss_parameter_supported"`
	MetadataDocument bool     `json:"client_id_metadata_document_supported"`
}

// protected is the metadata of a resource (RFC 9728).
type protected struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// Discover finds the authorization server of an endpoint and requests that server's metadata. It posts probe without
// credentials to get the endpoint's challenge; if probe is nil, it sends a GET. issuer is the server that the user chose,
// or "".
func (c *Client) Discover(ctx context.Context, resource *url.URL, probe []byte, issuer string) (*Found, error) {
	status, ch, err := c.ask(ctx, resource, probe)
	if err != nil {
		return nil, err
	}
	found := &Found{Resource: resource.String()}
	p, err := c.protected(ctx, resource, ch)
	if err != nil {
		return nil, err
	}
	legacy := false
	switch {
	case issuer != "":
		c.allowPrivate()
	case p != nil && len(p.Servers) > 0:
		issuer = p.Servers[0]
	case status == http.StatusUnauthorized: // the endpoint is its own authorization server (MCP 2025-03-26)
		legacy, issuer = true, resource.Scheme+"://"+resource.Host
	default:
		return nil, wire.NewFault(wire.Auth, fmt.Sprintf("%s names no authorization server, and returned %d to a request without credentials", resource, status), nil).
			WithHint("name one with --issuer URL, or store a token with --with-token")
	}
	if p != nil {
		found.Resource, found.Scopes = p.Resource, p.Scopes
	}
	if ch != nil && ch.Scopes != nil {
		found.Scopes = ch.Scopes
	}
	found.Server, err = c.server(ctx, issuer, legacy)
	return found, err
}

// ask sends the probe and returns the challenge in the response.
func (c *Client) ask(ctx context.Context, at *url.URL, probe []byte) (int, *Challenge, error) {
	method := http.MethodGet
	if probe != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(context.WithValue(ctx, firstKey{}, true), method, at.String(), bytes.NewReader(probe))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if probe != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	start := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, c.failed(ctx, at.String(), start, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDocument)) // lets the connection be reused
	}
	return resp.StatusCode, challengeOf(resp), nil
}

// protected returns the metadata of a resource, or nil. It requests the URL in the challenge, or otherwise the well-known URLs, and
// only from the resource's own origin.
func (c *Client) protected(ctx context.Context, resource *url.URL, ch *Challenge) (*protected, error) {
	root := &url.URL{Scheme: resource.Scheme, Host: resource.Host}
	places := []string{wellKnown(resource, "oauth-protected-resource"), wellKnown(root, "oauth-protected-resource")}
	if ch != nil && ch.Metadata != "" {
		u, err := resource.Parse(ch.Metadata)
		if err != nil || transport.Origin(u) != transport.Origin(resource) {
			return nil, wire.NewFault(wire.Protocol, fmt.Sprintf("%s names the metadata of another host: %s", resource, transport.FirstLine([]byte(ch.Metadata))), nil)
		}
		places = []string{u.String()}
	}
	for _, at := range slices.Compact(places) {
		var p protected
		switch ok, err := c.get(ctx, at, &p); {
		case err != nil:
			return nil, err
		case !ok:
		case !describes(p.Resource, at, resource):
			return nil, wire.NewFault(wire.Protocol, fmt.Sprintf("%s: resource is %q, which is not %s", at, transport.FirstLine([]byte(p.Resource)), resource), nil)
		default:
			return &p, nil
		}
	}
	return nil, nil
}

// describes reports whether metadata at a URL may describe the resource identifier. The identifier must be the endpoint or a
// prefix that fits the place of the metadata (RFC 9728, section 3.3). The owner of one path must not get tokens for the whole
// host.
func describes(identifier, at string, endpoint *url.URL) bool {
	u, err := url.Parse(identifier)
	if err != nil || !covers(identifier, endpoint) {
		return false
	}
	at, _, _ = strings.Cut(at, "?")
	return covers(endpoint.String(), u) || strings.EqualFold(wellKnown(u, "oauth-protected-resource"), strings.TrimSuffix(at, "/"))
}

// server returns the metadata of an issuer. If legacy is set, a server without metadata has the endpoints of MCP
// 2025-03-26.
func (c *Client) server(ctx context.Context, issuer string, legacy bool) (Server, error) {
	u, err := safe(issuer)
	if err != nil || u.RawQuery != "" {
		return Server{}, cmp.Or(err, error(wire.NewFault(wire.Protocol, issuer+": an issuer cannot have a query", nil)))
	}
	places := []string{wellKnown(u, "oauth-authorization-server"), wellKnown(u, "openid-configuration"), strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"}
	for _, at := range slices.Compact(places) {
		var s Server
		switch ok, err := c.get(ctx, at, &s); {
		case err != nil:
			return s, err
		case !ok:
		case s.Issuer != issuer:
			return s, wire.NewFault(wire.Protocol, fmt.Sprintf("%s: issuer is %q, which is not %q", at, transport.FirstLine([]byte(s.Issuer)), issuer), nil)
		default:
			return s, nil
		}
	}
	if legacy {
		return Server{
			Issuer: issuer, Authorization: issuer + "/authorize", Token: issuer + "/token", Registration: issuer + "/register",
			Challenges: []string{"S256"},
		}, nil
	}
	return Server{}, wire.NewFault(wire.Auth, "the authorization server "+issuer+" has no metadata", nil)
}

// Offers reports whether a resource names an authorization server. ch is the resource's challenge. Offers sends requests
// only to the resource's own origin, because the user has allowed no others.
func (c *Client) Offers(ctx context.Context, resource *url.URL, ch *Challenge) bool {
	p, err := c.protected(context.WithValue(ctx, firstKey{}, true), resource, ch)
	if err != nil || p != nil {
		return err == nil && len(p.Servers) > 0
	}
	s, err := c.server(context.WithValue(ctx, firstKey{}, true), resource.Scheme+"://"+resource.Host, false)
	return err == nil && s.Token != ""
}

// Resource returns the identifier of an endpoint in OAuth: its URL without the query. It returns a usage Fault unless the
// scheme is http, https, ws or wss.
func Resource(a transport.Address) (*url.URL, error) {
	scheme, ok := map[string]string{"http": "http", "ws": "http", "https": "https", "wss": "https"}[a.Scheme]
	if !ok {
		return nil, wire.Usagef("logins are supported only for http, https, ws and wss endpoints")
	}
	path, _, _ := strings.Cut(a.URLPath, "?")
	u, err := url.Parse(scheme + "://" + strings.ToLower(a.Host) + strings.TrimSuffix(path, "/"))
	if err != nil {
		return nil, wire.Usagef("%s is not a URL", a)
	}
	if err := confidential(u); err != nil {
		return nil, err
	}
	return u, nil
}

// confidential returns a Fault if other machines could read what rpcx sends to u. It allows https, and http to this machine.
func confidential(u *url.URL) error {
	if u.Scheme == "https" && u.Host != "" || u.Scheme == "http" && isLoopback(u.Hostname()) {
		return nil
	}
	return wire.NewFault(wire.Auth, "no login for "+u.Scheme+"://"+u.Host+": tokens are sent over https, or to this machine", nil)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// covers reports whether a resource's token is valid for a URL: both have the same origin, and the URL's path is at or
// below the resource's path.
func covers(resource string, u *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || transport.Origin(r) != transport.Origin(u) {
		return false
	}
	base, path := strings.TrimSuffix(r.EscapedPath(), "/"), u.EscapedPath()
	return path == base || strings.HasPrefix(path, base+"/") && !strings.Contains(u.Path, "/..")
}

// wellKnown inserts the path /.well-known/name before the path of u (RFC 8615).
func wellKnown(u *url.URL, name string) string {
	return u.Scheme + "://" + u.Host + "/.well-known/" + name + strings.TrimSuffix(u.EscapedPath(), "/")
}

// isPrivate reports whether an address belongs to this machine, a private network or a network link.
func isPrivate(at netip.Addr) bool {
	at = at.Unmap()
	shared := netip.MustParsePrefix("100.64.0.0/10") // RFC 6598
	return !at.IsValid() || at.IsLoopback() || at.IsPrivate() || at.IsLinkLocalUnicast() || at.IsUnspecified() || shared.Contains(at)
}
