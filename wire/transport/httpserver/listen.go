// Package httpserver listens for WebSockets and for messages that are posted over HTTP, both on one port.
package httpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
	"rpcx/wire/transport/stream"
)

// An listener serves ws, wss, http, https, ws+unix and http+unix, which
// differ in their TLS and in what Endpoint says alone: on one port each upgrade
// to WebSocket is a Conn, and so is each POST, unless Config.NoPosts.
type listener struct {
	guard
	c        transport.Config
	endpoint string
	server   *http.Server
	ready    chan wire.Conn
	closed   chan struct{}
	closing  sync.Once
	serving  sync.WaitGroup
	patience time.Duration // see body
	sessions *sessions     // nil: there are none
	name     string        // that clients are given and send back; "": none
	clients  clients

	mu   sync.Mutex
	idle map[net.Conn]struct{} // connections without a request
}

// listenHTTP binds a, and serves when it returns.
func Listen(ctx context.Context, a transport.Address, c transport.Config) (transport.Listener, error) {
	l := &listener{
		c: c, ready: make(chan wire.Conn), closed: make(chan struct{}),
		idle: map[net.Conn]struct{}{}, patience: bodyTimeout, sessions: newSessions(c), name: newName(c),
		clients: clients{interval: lookInterval},
	}
	secure := a.Scheme == "wss" || a.Scheme == "https"
	l.server = l.newServer()
	if secure {
		cfg, err := c.TLS.Server()
		if err != nil {
			return nil, err
		}
		l.server.TLSConfig = cfg
	} else {
		l.c.TLS = transport.TLS{} // which asks nobody for a certificate
	}
	ln, err := l.bind(ctx, a)
	if err != nil {
		return nil, err
	}
	ln = limitedListener{ln, stream.NewLimit(c)}
	l.serving.Go(func() {
		if secure {
			l.server.ServeTLS(ln, "", "")
		} else {
			l.server.Serve(ln)
		}
	})
	return l, nil
}

func (l *listener) newServer() *http.Server {
	s := &http.Server{
		Handler:           l,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         l.state,
		ErrorLog:          log.New(warner{l.c}, "", 0),
		ConnContext:       l.clients.came,
	}
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	return s
}

// netKey is the key of a request's net.Conn in its context.
type netKey struct{}

// warner makes lines of a log into warnings.
type warner struct{ c transport.Config }

func (w warner) Write(p []byte) (int, error) {
	w.c.Warnf("%s", strings.TrimSpace(string(p)))
	return len(p), nil
}

// state tracks the connections that have no request at present: they end with the
// listener, while all others belong to their Conn.
func (l *listener) state(c net.Conn, s http.ConnState) {
	l.clients.went(c, s)
	l.mu.Lock()
	defer l.mu.Unlock()
	if s != http.StateNew && s != http.StateIdle {
		delete(l.idle, c)
		return
	}
	select {
	case <-l.closed:
		c.Close()
	default:
		l.idle[c] = struct{}{}
	}
}

// Accept returns the next WebSocket, or the next POST.
func (l *listener) Accept() (wire.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Endpoint returns the URL that a client writes.
func (l *listener) Endpoint() string { return l.endpoint }

// Close ends the listener. What was accepted goes on until its Conn closes.
func (l *listener) Close() error {
	l.closing.Do(func() {
		close(l.closed)
		over, cancel := context.WithCancel(context.Background())
		cancel() // no waiting: only the listener ends, and keeping alive
		l.server.Shutdown(over)
		l.serving.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		for c := range l.idle {
			c.Close()
		}
	})
	return nil
}

// hand gives a connection to Accept; false if Accept will not be called any more.
func (l *listener) hand(ctx context.Context, c wire.Conn) bool {
	select {
	case <-l.closed:
		return false
	default:
	}
	select {
	case l.ready <- c:
		return true
	case <-l.closed:
	case <-ctx.Done():
	}
	return false
}

// ServeHTTP takes one request.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.c.Watch.Requested(r.RemoteAddr, r.Method, r.RequestURI, r.Proto, append([]string{"Host: " + r.Host}, transport.HeadLines(r.Header)...))
	if r.TLS != nil {
		l.c.Watch.Secured(r.RemoteAddr, *r.TLS, true, 0)
	}
	if show := l.c.Watch.Pieces(r.RemoteAddr); show != nil && !isUpgrade(r) {
		r.Body = transport.ShownBody(r.Body, func(b []byte) { show(wire.Recv, b) })
		w = shownAnswer{w, func(b []byte) { show(wire.Send, b) }}
	}
	rc := http.NewResponseController(w)
	rc.SetReadDeadline(time.Now().Add(l.patience)) // for what is left of a body that is refused, too
	rc.SetWriteDeadline(time.Time{})
	if !l.allow(w, r) || l.names(w, r) {
		return
	}
	switch {
	case l.isGet(r):
		l.get(w, r)
	case l.relayed && !isUpgrade(r):
		if l.token != "" {
			r.Header.Del("Authorization") // it was for us
		}
		if msg, ok := l.read(w, r); ok {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(msg)), int64(len(msg))
			l.c.Relay(w, r)
		}
	case l.sessions != nil && !isUpgrade(r):
		if msg, done := l.serveSession(w, r); !done {
			l.post(w, r, msg)
		}
	case r.Method == http.MethodPost:
		if msg, ok := l.read(w, r); ok {
			l.post(w, r, msg)
		}
	default:
		l.upgrade(w, r)
	}
}

// How long a listener waits for more of a body, or for an answer to be taken,
// and the least that has to come or go on average: whoever is slower only keeps
// a place.
const (
	bodyTimeout = 30 * time.Second
	bodyRate    = 1 << 10 // bytes a second
)

// body reads a body with these bounds.
type body struct {
	io.Reader
	rc       *http.ResponseController
	patience time.Duration
	start    time.Time
	came     int
}

func (b *body) Read(p []byte) (int, error) {
	now := time.Now()
	last := b.start.Add(b.patience + atRate(b.came))
	if next := now.Add(b.patience); next.Before(last) {
		last = next
	}
	b.rc.SetReadDeadline(last)
	n, err := b.Reader.Read(p)
	b.came += n
	return n, err
}

// atRate returns the time that n bytes may take.
func atRate(n int) time.Duration { return time.Duration(n/bodyRate) * time.Second }

// read reads the body of a request, and answers one that cannot be read.
func (l *listener) read(w http.ResponseWriter, r *http.Request) (msg []byte, ok bool) {
	max := l.c.MaxMessage
	rc := http.NewResponseController(w)
	from := &body{Reader: http.MaxBytesReader(w, r.Body, int64(max)), rc: rc, patience: l.patience, start: time.Now()}
	msg, err := httpbody.Read(from, r.ContentLength, max)
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusRequestTimeout, "the body is too slow")
		return nil, false
	case errors.As(err, &large), wire.AsFault(err) != nil:
		refuse(w, http.StatusRequestEntityTooLarge, "a message may have %d bytes", max)
		return nil, false
	case err != nil:
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			refuse(w, http.StatusBadRequest, "the body could not be read")
		}
		return nil, false
	}
	rc.SetReadDeadline(time.Time{}) // the handler takes as long as it takes
	return msg, true
}

func (l *listener) post(w http.ResponseWriter, r *http.Request, msg []byte) {
	c := newPostConn(w, r, msg, l.c)
	if !l.hand(r.Context(), c) {
		c.abandon()
		refuse(w, http.StatusServiceUnavailable, "the listener is closed")
		return
	}
	c.serve()
}
