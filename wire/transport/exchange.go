package transport

import (
	"net/http"
	"net/url"
	"time"

	"rpcx/wire/redact"
)

// An Exchange describes one HTTP exchange when the head of its response has been received or sent: an upgrade, a POST, a
// request for an event stream. The bodies must not be read here.
type Exchange struct {
	Request  *http.Request
	Response *http.Response // nil for none
	Err      error          // why there is no response
	Start    time.Time      // when it began
	Connect  time.Duration  // the time to connect, without TLS; 0 if the connection was reused
	TLS      time.Duration  // the time of the TLS handshake
	Wait     time.Duration  // from the sent request to the head of the response
	Remote   string         // the address of the peer, or "" if unknown
}

// RedactURL returns u without userinfo and values of its query.
func RedactURL(u *url.URL) string {
	c := *u
	c.User = nil
	c.RawQuery, c.Fragment = "", ""
	query := redact.Query("?" + u.RawQuery)
	if u.RawQuery == "" {
		query = ""
	}
	return c.String() + query
}
