package httpserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// stateless handles a POST that belongs to no session, by the dialect's rules, and reports whether it was one.
func (h *handler) stateless(w http.ResponseWriter, r *http.Request, msg []byte) bool {
	posts := h.sessions.rules.Posts
	if posts == nil {
		return false
	}
	own, no := posts.Check(r.Header, msg)
	switch {
	case !own:
		return false
	case no == nil:
		h.exchange(w, r, msg, posts.Status)
		return true
	}
	var o scan.Object
	o.Text("jsonrpc", "2.0")
	if id := scan.Get(msg, "id"); scan.Type(id) == 's' || scan.Type(id) == 'n' {
		o.Add("id", bytes.Clone(id))
	}
	o.Add("error", no.JSON())
	h.refused.tell(h.c, r, refusal{status: http.StatusBadRequest, why: string(no.Code) + ", " + no.Message})
	a := &reply{servedExchange: serve(r, h.c.Watch), w: w, status: func(string) int { return http.StatusBadRequest }}
	a.whole(o.End(), http.StatusBadRequest)
	return true
}

// Identity implements wire.Identified: the same credentials mean the same client.
func (p *postConn) Identity() string {
	sum := sha256.New()
	sum.Write([]byte(p.r.Header.Get("Authorization")))
	if p.r.TLS != nil {
		for _, cert := range p.r.TLS.PeerCertificates {
			sum.Write(cert.Raw)
		}
	}
	return "http:" + hex.EncodeToString(sum.Sum(nil))
}

// statusOf returns the status of a response that is one message.
func (a *reply) statusOf(msg []byte) int {
	if a.status != nil {
		if code := scan.Get(scan.Get(msg, "error"), "code"); code != nil {
			return a.status(string(code))
		}
	}
	return http.StatusOK
}

var _ wire.Identified = (*postConn)(nil)
