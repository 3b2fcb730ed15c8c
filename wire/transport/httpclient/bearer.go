package httpclient

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"

	"rpcx/wire/redact"
	"rpcx/wire/transport/stream"
)

// A bearer sends the token of Config.Login in place of a request's Authorization. If the server refuses the token, it sends
// a renewed one once. The observer of exchanges is above it and never sees tokens.
type bearer struct {
	http.RoundTripper
	d *Dialer
}

// withToken makes t send tokens if the connection has a Login and is private.
func (d *Dialer) withToken(t http.RoundTripper) http.RoundTripper {
	if d.c.Login == nil || d.a.Path != "" || d.Header.Get("Authorization") != "" || !d.isPrivate() {
		return t
	}
	return bearer{t, d}
}

// isPrivate reports whether no other machine can read a request: the request uses TLS, or goes directly (without a proxy)
// to the address as the user typed it.
func (d *Dialer) isPrivate() bool {
	hosts := stream.Hosts(d.c.Route, d.a)
	return d.a.Scheme == "https" || d.a.Scheme == "wss" || len(hosts) == 1 && d.c.Route.Resolve[hosts[0]] == ""
}

// CloseIdleConnections implements wire.IdleCloser.
func (b bearer) CloseIdleConnections() { closeIdle(b.RoundTripper) }

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := b.d.c.Login.Token(req.Context(), req.URL, "")
	if err != nil {
		return nil, err
	}
	if token == "" {
		return b.RoundTripper.RoundTrip(req)
	}
	resp, err := b.RoundTripper.RoundTrip(authorized(req, token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || req.Body != nil && req.GetBody == nil {
		return resp, err
	}
	renewed, err := b.d.c.Login.Token(req.Context(), req.URL, token)
	if err != nil || renewed == "" || renewed == token {
		return resp, nil // the status of this response counts
	}
	again := authorized(req, renewed)
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return resp, nil
		}
	}
	resp.Body.Close()
	return b.RoundTripper.RoundTrip(again)
}

// authorized returns a copy of req with a token.
func authorized(req *http.Request, token string) *http.Request {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}

// cookies stores the cookies of one connection in memory, each for exactly the host that set it. Domain attributes are
// ignored.
type cookies struct{ *cookiejar.Jar }

// newCookies returns an empty jar.
func newCookies() cookies {
	jar, _ := cookiejar.New(nil) // never fails without options
	return cookies{jar}
}

// longSecret is the length from which a server's value counts as a secret.
const longSecret = 16

// SetCookies stores the cookies of a response from u. It masks secret ones wherever the peer repeats them.
func (c cookies) SetCookies(u *url.URL, set []*http.Cookie) {
	for _, k := range set {
		k.Domain = ""
		if k.HttpOnly || redact.SecretName(k.Name) || len(k.Value) >= longSecret {
			redact.Sent(k.Value)
		}
	}
	c.Jar.SetCookies(u, set)
}
