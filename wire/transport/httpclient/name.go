package httpclient

import (
	"context"
	"errors"
	"net/http"
)

// errAgain says that an answer brought the name by which the message is to be sent again.
var errAgain = errors.New("to be sent again with the name that the server gave")

// againKey marks the context of an exchange that is one's second try.
type againKey struct{}

// takeName keeps the name that an answer gives us. It reports whether the message is to be
// sent again with it, as the server has not taken it.
func (h *httpConn) takeName(ctx context.Context, resp *http.Response) bool {
	id := resp.Header.Get(h.c.Name.Header)
	if id == "" {
		return false
	}
	h.session.Store(&id)
	if resp.StatusCode != h.c.Name.Again || ctx.Value(againKey{}) != nil {
		return false
	}
	h.readRefusal(resp.Body, "") // so that the connection can be used again
	return true
}
