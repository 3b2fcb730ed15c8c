package httpclient

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"

	"rpcx/wire/redact"
)

// cookies keeps the cookies of one connection in memory, each for exactly the host that set it; Domain attributes are
// ignored.
type cookies struct{ *cookiejar.Jar }

// newCookies returns an empty jar.
func newCookies() cookies {
	jar, _ := cookiejar.New(nil) // never fails without options
	return cookies{jar}
}

// longSecret is the length from which a value set by a server counts as a secret rather than a word.
const longSecret = 16

// SetCookies keeps the cookies of a response from u. Secret ones are masked wherever the peer repeats them.
func (c cookies) SetCookies(u *url.URL, set []*http.Cookie) {
	for _, k := range set {
		k.Domain = ""
		if k.HttpOnly || redact.SecretName(k.Name) || len(k.Value) >= longSecret {
			redact.Sent(k.Value)
		}
	}
	c.Jar.SetCookies(u, set)
}
