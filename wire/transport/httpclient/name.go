package httpclient

import (
	"context"
	"errors"
	"net/http"

	"rpcx/wire/redact"
)

// errAgain reports that the response assigned a session name, with which the message has to be sent again.
var errAgain = errors.New("to be sent again with the name that the server gave")

// againKey marks the context of an exchange that is repeated.
type againKey struct{}

// takeName stores the session name of a response. It reports whether the message has to be sent again with it, because the
// server did not process it.
func (h *httpConn) takeName(ctx context.Context, resp *http.Response) bool {
	id := resp.Header.Get(h.c.Name.Header)
	if id == "" {
		return false
	}
	if len(id) >= longSecret {
		redact.Sent(id)
	}
	h.session.Store(&id)
	if resp.StatusCode != h.c.Name.Again || ctx.Value(againKey{}) != nil {
		return false
	}
	h.readRefusal(resp.Body, "") // to keep the connection usable
	return true
}
