package httpclient

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
)

// cookies keep what one connection's servers set, in memory, each for the very
// host that set it: what a Domain attribute says of other hosts is not obeyed.
type cookies struct{ *cookiejar.Jar }

// newCookies returns an empty jar.
func newCookies() cookies {
	jar, _ := cookiejar.New(nil) // it fails for no options
	return cookies{jar}
}

// SetCookies keeps what the answer from u set.
func (c cookies) SetCookies(u *url.URL, set []*http.Cookie) {
	for _, k := range set {
		k.Domain = ""
	}
	c.Jar.SetCookies(u, set)
}
