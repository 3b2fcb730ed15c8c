package httpclient

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
)

// cookies keeps the cookies of one connection in memory, each for exactly the host that set it; Domain attributes are
// ignored.
type cookies struct{ *cookiejar.Jar }

// newCookies returns an empty jar.
func newCookies() cookies {
	jar, _ := cookiejar.New(nil) // never fails without options
	return cookies{jar}
}

// SetCookies keeps the cookies of a response from u.
func (c cookies) SetCookies(u *url.URL, set []*http.Cookie) {
	for _, k := range set {
		k.Domain = ""
	}
	c.Jar.SetCookies(u, set)
}
