package httpserver

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"rpcx/wire/transport"
)

// newName returns a name for the clients of a listener. It is "" if the dialect uses none, or another server provides
// it.
func newName(c transport.Config) string {
	if c.Name.Again == 0 || c.Relay != nil {
		return ""
	}
	return randomName()
}

// names sends the listener's name to a client whose request lacks it, and reports whether it did. A page in a browser cannot
// send such a header without a preflight.
func (h *handler) names(w http.ResponseWriter, r *http.Request) bool {
	if h.name == "" || isUpgrade(r) || r.Header.Get(h.c.Name.Header) == h.name {
		return false
	}
	w.Header().Set(h.c.Name.Header, h.name)
	refuse(w, h.c.Name.Again, "send the request again with the header %s", h.c.Name.Header)
	return true
}

// randomName returns an unguessable name.
func randomName() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}
