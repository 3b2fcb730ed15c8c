package httpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
)

// A handler handles the requests to a listener.
type handler struct {
	guard
	hand     func(context.Context, wire.Conn) bool // passes a connection to Accept; returns false if the listener is closed
	patience time.Duration                         // see body
	sessions *sessions                             // nil if the dialect has no sessions
	name     string                                // the session name that clients must repeat, or ""
}

// ServeHTTP handles one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = h.watched(w, r)
	rc := http.NewResponseController(w)
	rc.SetReadDeadline(time.Now().Add(h.patience)) // also limits reading the rest of a body that was rejected
	rc.SetWriteDeadline(time.Time{})
	if !h.allow(w, r) || h.names(w, r) {
		return
	}
	switch {
	case h.isGet(r):
		h.get(w, r)
	case isUpgrade(r) && !h.relays(r):
		h.upgrade(w, r)
	case isUpgrade(r):
		rc.SetReadDeadline(time.Time{})
		h.relay(w, r, nil)
	case h.sessions != nil && !h.relays(r):
		if msg, done := h.serveSession(w, r); !done {
			h.exchange(w, r, msg, nil)
		}
	default:
		if msg, ok := h.read(w, r); ok && h.relays(r) {
			h.relay(w, r, msg)
		} else if ok {
			h.exchange(w, r, msg, nil)
		}
	}
}

// relay forwards a request.
func (h *handler) relay(w http.ResponseWriter, r *http.Request, body []byte) {
	if h.c.Token != "" {
		r.Header.Del("Authorization") // it is meant for this listener
	}
	h.c.Relay(w, r, body)
}

// watched reports a request to Config.Watch, and returns a writer for the response. Watch then receives the bytes in
// both directions.
func (h *handler) watched(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	watch := h.c.Watch
	watch.Requested(r.RemoteAddr, r.Method, r.RequestURI, r.Proto, append([]string{"Host: " + r.Host}, transport.HeadLines(r.Header)...))
	if r.TLS != nil {
		watch.Secured(r.RemoteAddr, *r.TLS, true, 0)
	}
	show := watch.Pieces(r.RemoteAddr)
	if show == nil || isUpgrade(r) {
		return w
	}
	r.Body = transport.ShownBody(r.Body, func(b []byte) { show(wire.Recv, b) })
	return shownAnswer{w, func(b []byte) { show(wire.Send, b) }}
}

// These constants limit the time for receiving a body, and for sending a response to a slow client. bodyRate is the
// lowest average rate. They prevent slow clients from occupying connections.
const (
	bodyTimeout = 30 * time.Second
	bodyRate    = 1 << 10 // in bytes per second
)

// body is a reader of a request body that obeys these limits.
type body struct {
	io.Reader
	rc       *http.ResponseController
	patience time.Duration
	start    time.Time
	received int
}

func (b *body) Read(p []byte) (int, error) {
	now := time.Now()
	last := b.start.Add(b.patience + atRate(b.received))
	if next := now.Add(b.patience); next.Before(last) {
		last = next
	}
	b.rc.SetReadDeadline(last)
	n, err := b.Reader.Read(p)
	b.received += n
	return n, err
}

// atRate returns how long n bytes may take at bodyRate.
func atRate(n int) time.Duration { return time.Duration(n/bodyRate) * time.Second }

// read reads the body of a request. If the body cannot be read, it sends the response.
func (h *handler) read(w http.ResponseWriter, r *http.Request) (msg []byte, ok bool) {
	max := h.c.MaxMessage
	rc := http.NewResponseController(w)
	from := &body{Reader: http.MaxBytesReader(w, r.Body, int64(max)), rc: rc, patience: h.patience, start: time.Now()}
	read := httpbody.Read
	if h.relays(r) {
		read = httpbody.ReadBytes
	}
	msg, err := read(from, r.ContentLength, max)
	switch _, ok := errors.AsType[*http.MaxBytesError](err); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.refused.refuse(w, r, http.StatusRequestTimeout, "the body arrived too slowly")
		return nil, false
	case ok, wire.AsFault(err) != nil:
		h.refused.refuse(w, r, http.StatusRequestEntityTooLarge, "a message can have at most %d bytes", max)
		return nil, false
	case err != nil:
		if errors.Is(err, io.ErrUnexpectedEOF) {
			panic(http.ErrAbortHandler) // without a status and a warning: the client has disconnected
		}
		h.refused.refuse(w, r, http.StatusBadRequest, "the body could not be read")
		return nil, false
	}
	rc.SetReadDeadline(time.Time{}) // there is no time limit for the handler
	return msg, true
}

// exchange makes a connection from a POST. status returns the HTTP status for an error response; if it is nil, the
// status is 200.
func (h *handler) exchange(w http.ResponseWriter, r *http.Request, msg []byte, status func(code string) int) {
	c := newPostConn(w, r, msg, h.c)
	c.status = status
	if !h.hand(r.Context(), c) {
		http.Error(w, errListenerClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	c.serve()
}

// isGet reports whether the dialect itself responds to a GET request.
func (g *guard) isGet(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && g.c.Gets[r.URL.Path] != nil && !isUpgrade(r)
}

// get responds to such a GET request. The dialect receives the URL of its WebSocket, which contains the host name that
// the client has used.
func (h *handler) get(w http.ResponseWriter, r *http.Request) {
	from, scheme := serve(r, h.c.Watch), "ws"
	if r.TLS != nil {
		scheme = "wss"
	}
	body, err := h.c.Gets[r.URL.Path](scheme + "://" + r.Host + h.path)
	if err != nil {
		h.c.Warnf("GET %s: %v", r.URL.Path, err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	head := w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("Content-Length", strconv.Itoa(len(body)))
	head.Set("Cache-Control", "no-store")
	from.answered(http.StatusOK, head)
	_, _ = w.Write(body)
}

// newName returns the session name that a listener gives to its clients. It returns "" if the dialect does not use such
// names, or if another server provides the name.
func newName(c transport.Config) string {
	if c.Name.Again == 0 || c.Relay != nil {
		return ""
	}
	return wire.RandomHex(16)
}

// names checks whether a client's request contains the listener's session name. If not, it sends the name to the client and
// returns true. A page in a browser cannot send such a header without a preflight.
func (h *handler) names(w http.ResponseWriter, r *http.Request) bool {
	if h.name == "" || isUpgrade(r) || r.Header.Get(h.c.Name.Header) == h.name {
		return false
	}
	w.Header().Set(h.c.Name.Header, h.name)
	http.Error(w, "send the request again with the header "+h.c.Name.Header, h.c.Name.Again)
	return true
}
