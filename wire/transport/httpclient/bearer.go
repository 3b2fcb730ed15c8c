package httpclient

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"

	"rpcx/wire/redact"
	"rpcx/wire/transport"
	"rpcx/wire/transport/stream"
)

// A bearer sends a token from Config.Login in the Authorization header. If the server refuses the token, it repeats the
// request once with a renewed token. The observer of exchanges is a layer above and never sees tokens.
type bearer struct {
	http.RoundTripper
	d *Dialer
}

// withToken makes t send tokens if the connection has a Login and is private.
func (d *Dialer) withToken(t http.RoundTripper) http.RoundTripper {
	if d.c.Login == nil || d.a.Path != "" || d.Header.Get("Authorization") != "" || !isPrivate(d.c.Route, d.a) {
		return t
	}
	return bearer{t, d}
}

// isPrivate reports whether no other machine can read the requests to an address: they use TLS, or go directly, without a
// proxy, to the address that the user typed.
func isPrivate(r transport.Route, a transport.Address) bool {
	hosts := stream.Hosts(r, a)
	return a.Scheme == "https" || a.Scheme == "wss" || len(hosts) == 1 && r.Resolve[hosts[0]] == ""
}

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
		return resp, nil // this is the response that counts
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

// authorized returns a copy of req that contains the token.
func authorized(req *http.Request, token string) *http.Request {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}

// cookies keeps the cookies of one connection in memory. Each is sent only to the host that has set it. Domain
// attributes are ignored.
type cookies struct{ *cookiejar.Jar }

// longSecret is the length in bytes from which a value that the server has sent counts as a secret.
const longSecret = 16

// SetCookies stores the cookies of a response from u. Secret values are masked wherever the peer repeats them.
func (c cookies) SetCookies(u *url.URL, set []*http.Cookie) {
	for _, k := range set {
		k.Domain = ""
		if k.HttpOnly || redact.SecretName(k.Name) || len(k.Value) >= longSecret {
			redact.Sent(k.Value)
		}
	}
	c.Jar.SetCookies(u, set)
}
