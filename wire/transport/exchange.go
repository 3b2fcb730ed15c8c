package transport

import (
	"net/http"
	"net/url"
	"time"

	"rpcx/wire/redact"
)

// An Exchange describes one HTTP exchange, as it stands when the head of the response
// has come or gone: an upgrade, a POST, a request for an event stream. The bodies must
// not be read here.
type Exchange struct {
	Request  *http.Request
	Response *http.Response // nil: none came
	Err      error          // why none came
	Start    time.Time      // when it began
	Connect  time.Duration  // to connect, without TLS; 0: a connection was used again
	TLS      time.Duration  // of the TLS handshake
	Wait     time.Duration  // from the request being sent to the head of the response
	Remote   string         // the address of the other side; "": not known
}

// RedactURL returns u as it may be shown: without userinfo and the values of its
// query.
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
