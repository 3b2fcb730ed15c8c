package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
)

// nameHeader is the header by which a server knows its client. MCP's is taken in any
// dialect that has no other: who sends it wants it back.
func (c Config) nameHeader() string { return cmp.Or(c.Name.Header, "Mcp-Session-Id") }

// errAgain says that an answer brought the name by which the message is to be sent again.
var errAgain = errors.New("to be sent again with the name that the server gave")

// againKey marks the context of an exchange that is one's second try.
type againKey struct{}

// takeName keeps the name that an answer gives us. It reports whether the message is to be
// sent again with it, as the server has not taken it.
func (h *httpConn) takeName(ctx context.Context, resp *http.Response) bool {
	id := resp.Header.Get(h.c.nameHeader())
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

// newName returns a name for the clients of a listener; "" where the dialect wants none.
func newName(c Config) string {
	if c.Name.Again == 0 {
		return ""
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// names tells the client of a request without our name for it that name, and reports
// whether it did. A page in a browser cannot send such a header without asking.
func (l *httpListener) names(w http.ResponseWriter, r *http.Request) bool {
	if l.name == "" || isUpgrade(r) || r.Header.Get(l.c.nameHeader()) == l.name {
		return false
	}
	w.Header().Set(l.c.nameHeader(), l.name)
	refuse(w, l.c.Name.Again, "to be sent again with the header %s", l.c.nameHeader())
	return true
}
