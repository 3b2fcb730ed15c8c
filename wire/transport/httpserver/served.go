package httpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"rpcx/wire/transport"
	"rpcx/wire/transport/stream"
	"rpcx/wire/transport/ws"
)

// A servedExchange is the Exchange of a connection to a listener.
type servedExchange struct {
	r     *http.Request
	start time.Time
	watch *transport.Watch

	mu     sync.Mutex
	head   *http.Response           // nil until the head is sent
	err    error                    // why there will be no head, or nil
	report func(transport.Exchange) // nil if not needed or already called
}

func serve(r *http.Request, w *transport.Watch) *servedExchange {
	return &servedExchange{r: r, start: time.Now(), watch: w}
}

// OnExchange sets a function that is called with the exchange when the head of the response is sent or the exchange is
// cut, or at once if that has already happened.
func (s *servedExchange) OnExchange(tell func(transport.Exchange)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = tell
	s.reportExchange()
}

// answered records the head of the response.
func (s *servedExchange) answered(status int, header http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch.Answered(s.r.RemoteAddr, status, s.r.Proto, header, time.Since(s.start))
	s.head = &http.Response{StatusCode: status, Proto: s.r.Proto, Header: header.Clone()}
	s.reportExchange()
}

// errCut is the error of an exchange with a client that disconnects, or that closes its sending direction, which looks the same.
var errCut = errors.New("the peer closed the connection before its request was answered")

// cut ends the exchange and closes its connection without a status, because a status would be a response. It does not return.
func (s *servedExchange) cut() {
	s.mu.Lock()
	s.err = errCut
	s.reportExchange()
	s.mu.Unlock()
	panic(http.ErrAbortHandler)
}

func (s *servedExchange) reportExchange() {
	if s.report == nil || s.head == nil && s.err == nil {
		return
	}
	req := s.r.WithContext(s.r.Context())
	req.URL = &url.URL{Scheme: "http", Host: s.r.Host, Path: s.r.URL.Path, RawPath: s.r.URL.RawPath, RawQuery: s.r.URL.RawQuery}
	if s.r.TLS != nil {
		req.URL.Scheme = "https"
	}
	s.report(transport.Exchange{Request: req, Response: s.head, Err: s.err, Start: s.start, Wait: time.Since(s.start), Remote: s.r.RemoteAddr})
	s.report = nil
}

// A shownAnswer is a ResponseWriter that also passes the bytes of each response body to its function show.
type shownAnswer struct {
	http.ResponseWriter
	show func([]byte)
}

func (s shownAnswer) Write(p []byte) (int, error) {
	s.show(p)
	return s.ResponseWriter.Write(p)
}

// http.ResponseController calls Unwrap.
func (s shownAnswer) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// An upgraded is a WebSocket together with the exchange that has opened it.
type upgraded struct {
	*ws.Conn
	*servedExchange
}

func (h *handler) upgrade(w http.ResponseWriter, r *http.Request) {
	const goingAway = 1001
	c := upgraded{servedExchange: serve(r, h.c.Watch)}
	var err error
	if c.Conn, err = ws.Accept(w, r, r.Context().Value(netKey{}).(net.Conn), h.c); err != nil {
		return // ws.Accept has sent the response
	}
	c.answered(http.StatusSwitchingProtocols, w.Header())
	if !h.hand(context.Background(), c) {
		c.CloseWith(goingAway, "the listener is closed")
	}
}

// A limitedListener limits the number of connections. Any of them can become a WebSocket.
type limitedListener struct {
	net.Listener
	places *stream.Limit
}

func (l limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if leave := l.places.Acquire(c); leave != nil {
			return ws.Wrap(c, leave), nil
		}
	}
}
