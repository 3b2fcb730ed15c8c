package httpserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/transport"
)

const (
	maxSessions  = 1000             // the maximum number of sessions on a listener; beyond that, the status is 503
	sessionIdle  = 30 * time.Minute // how long a session lives without an exchange
	sessionsKeep = 256 << 20        // the maximum size, in bytes, of the stored events of all sessions
)

// sessions contains the sessions of an HTTP listener. A session is a connection that consists of several exchanges:
// POSTs, and event streams that the client requests with GET. A DELETE ends it.
type sessions struct {
	rules   *wire.HTTPSessions
	c       transport.Config
	refused *refusals
	idle    time.Duration
	keeps   int          // the maximum size, in bytes, of the events in all sessions
	share   atomic.Int64 // how many bytes each session may store

	mu   sync.Mutex
	byID map[string]*sessionConn
}

func newSessions(c transport.Config, refused *refusals) *sessions {
	if c.Sessions == nil {
		return nil
	}
	s := &sessions{rules: c.Sessions, c: c, refused: refused, idle: sessionIdle, keeps: sessionsKeep, byID: map[string]*sessionConn{}}
	s.share.Store(keptBytes)
	return s
}

// divideLocked computes how much each session may store, and returns the sessions that must now store less. The share
// is keptBytes divided by a power of two, so it rarely changes. The caller holds the lock.
func (s *sessions) divideLocked() (less []*sessionConn) {
	share := int64(keptBytes)
	for share*int64(len(s.byID)) > int64(s.keeps) {
		share /= 2
	}
	if s.share.Swap(share) > share {
		less = slices.Collect(maps.Values(s.byID))
	}
	return less
}

// serveSession handles a request that belongs to a session or starts one. For any other request, done is false. If that
// request is a POST, msg is its body.
func (h *handler) serveSession(w http.ResponseWriter, r *http.Request) (msg []byte, done bool) {
	s := h.sessions
	id, post := r.Header.Get(s.rules.Header), r.Method == http.MethodPost
	if post {
		if msg, done = h.read(w, r); !done || h.stateless(w, r, msg) {
			return nil, true
		}
	}
	for name, values := range s.rules.Values {
		if got := r.Header.Get(name); got != "" && !slices.Contains(values, got) {
			h.refused.refuse(w, r, http.StatusBadRequest, "%s: %.40q is not supported", name, got)
			return nil, true
		}
	}
	if id == "" {
		begins, primes := s.rules.Begins(msg)
		if !post || !begins {
			return msg, false
		}
		h.begin(w, r, msg, primes)
		return nil, true
	}
	s.mu.Lock()
	c := s.byID[id]
	s.mu.Unlock()
	switch {
	case c == nil:
		h.refused.refuse(w, r, http.StatusNotFound, "there is no such session")
	case r.Method == http.MethodDelete:
		c.end(errSessionEnded)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet:
		c.get(w, r)
	default:
		owes, ok := requestsOf(msg)
		if !ok {
			return msg, false // the response depends on the kind of the message, and there is no session
		}
		c.post(w, r, msg, owes)
	}
	return nil, true
}

// begin starts a session with its first message.
func (h *handler) begin(w http.ResponseWriter, r *http.Request, msg []byte, primes bool) {
	s := h.sessions
	c := newSessionConn(wire.RandomHex(16), r.RemoteAddr, s, primes)
	s.mu.Lock()
	full := len(s.byID) >= maxSessions
	if !full {
		s.byID[c.id] = c
	}
	less := s.divideLocked()
	s.mu.Unlock()
	for _, other := range less {
		other.keepLess()
	}
	if full {
		w.Header().Set("Retry-After", "60")
		h.refused.refuse(w, r, http.StatusServiceUnavailable, "the limit of %d sessions is reached", maxSessions)
		return
	}
	if !h.hand(r.Context(), c) {
		c.end(errListenerClosed)
		http.Error(w, errListenerClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	defer func() { // also if the exchange is cut
		if c.refuses() {
			c.end(errRefused)
		}
	}()
	owes, _ := requestsOf(msg)
	c.post(w, r, msg, owes)
}

// forget removes a session.
func (s *sessions) forget(c *sessionConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, c.id)
	s.divideLocked()
}

// requestsOf returns the keys of the ids (see wire.ID) of the requests in a message or in an array of messages. ok is false
// if there is anything other than requests, notifications and responses.
func requestsOf(msg []byte) (ids []string, ok bool) {
	if scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		return nil, false
	}
	all := scan.Elements(msg)
	if scan.Type(msg) != 'a' {
		all = slices.Values([][]byte{msg})
	}
	for m := range all {
		method, id := scan.Get(m, "method"), scan.Get(m, "id")
		switch kind := scan.Type(id); {
		case method == nil && scan.Get(m, "result") == nil && scan.Get(m, "error") == nil, method != nil && scan.Type(method) != 's':
			return nil, false
		case method == nil, id == nil: // a response or a notification
		case kind != 's' && kind != 'n' || slices.Contains(ids, string(scan.Canonical(id))):
			return nil, false
		default:
			ids = append(ids, string(scan.Canonical(id)))
		}
		ok = true
	}
	return ids, ok
}

// answersOf returns the keys of the ids of the requests to which a message or an array of messages responds.
func answersOf(msg []byte) (ids []string) {
	if scan.Type(msg) == 'a' {
		for m := range scan.Elements(msg) {
			ids = append(ids, answersOf(m)...)
		}
		return ids
	}
	if id := scan.Get(msg, "id"); id != nil && scan.Get(msg, "method") == nil {
		return []string{string(scan.Canonical(id))}
	}
	return nil
}

// methods returns the HTTP methods that are accepted, for an error about any other method.
func (g *guard) methods() string {
	if g.c.Sessions == nil {
		return "POST"
	}
	return "POST, GET, DELETE"
}

// inSession reports whether a request belongs to a session and has no body.
func (g *guard) inSession(r *http.Request) bool {
	return g.c.Sessions != nil && r.Header.Get(g.c.Sessions.Header) != "" && (r.Method == http.MethodGet || r.Method == http.MethodDelete)
}

// stateless handles a POST outside of sessions if the dialect has rules for that. It returns true if it has handled the
// POST.
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
	h.refused.report(r, http.StatusBadRequest, string(no.Code)+", "+no.Message)
	a := &reply{servedExchange: serve(r, h.c.Watch), w: w, status: func(string) int { return http.StatusBadRequest }}
	a.whole(o.End(), http.StatusBadRequest)
	return true
}

// Identity implements wire.Identified. Clients that send the same credentials count as the same client.
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

// statusOf returns the HTTP status for a response that consists of one message.
func (a *reply) statusOf(msg []byte) int {
	if a.status != nil {
		if code := scan.Get(scan.Get(msg, "error"), "code"); code != nil {
			return a.status(string(code))
		}
	}
	return http.StatusOK
}

var _ wire.Identified = (*postConn)(nil)
