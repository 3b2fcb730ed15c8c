package transport

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// MaxErrorBody bounds the part of a response body that is shown if it is not a message.
const MaxErrorBody = 1024

// HTTPFault returns the failure for an HTTP status: Auth for 401, 403 and 407, Unreachable for all others.
func HTTPFault(what string, resp *http.Response, body []byte) *wire.Fault {
	kind, status := wire.Unreachable, resp.StatusCode
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		kind = wire.Auth
	}
	body = redact.KnownBytes(body)
	body = body[:min(len(body), MaxErrorBody)]
	msg := fmt.Sprintf("%s: %d %s", what, status, http.StatusText(status))
	if line := FirstLine(body); line != "" {
		msg = strings.TrimSuffix(msg, " ") + ": " + line
	}
	f := wire.NewFault(kind, strings.TrimSuffix(msg, " "), nil)
	f.HTTP = &wire.HTTP{Status: status, Body: strings.ToValidUTF8(string(body), "\uFFFD"), RetryAfter: retryAfter(resp)}
	f.HTTP.Challenges = resp.Header.Values("WWW-Authenticate")
	f.HTTP.Challenge, _, _ = strings.Cut(resp.Header.Get("WWW-Authenticate"), " ")
	return f
}

// longestRetryAfter bounds the pause that a server can request.
const longestRetryAfter = 24 * time.Hour

// retryAfter returns the pause that the server requests, in seconds, or 0 if it requests none.
func retryAfter(resp *http.Response) int {
	given := strings.TrimSpace(resp.Header.Get("Retry-After"))
	after, err := time.ParseDuration(given + "s")
	if at, aerr := http.ParseTime(given); aerr == nil {
		after, err = time.Until(at), nil
	}
	if err != nil || after < 0 {
		return 0
	}
	return int(math.Ceil(min(after, longestRetryAfter).Seconds()))
}

// FirstLine returns the first line of a response body for a one-line message; the Fault contains the whole body.
func FirstLine(body []byte) string {
	s := strings.TrimSpace(strings.ToValidUTF8(string(body), "\uFFFD"))
	s, _, _ = strings.Cut(s, "\n")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if cut := []rune(s); len(cut) > 200 {
		s = string(cut[:200]) + "…"
	}
	return s
}

// BasicAuth returns the value of an Authorization header.
func BasicAuth(u *url.Userinfo) string {
	password, _ := u.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))
}
