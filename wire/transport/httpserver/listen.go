// Package httpserver listens for WebSockets and for POSTs on one port.
package httpserver

import (
	"context"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/stream"
)

// A listener serves ws, wss, http, https, ws+unix and http+unix. They differ only in TLS and in the endpoint. Each
// upgrade to WebSocket becomes a Conn. Each POST becomes a Conn as well, unless Config.NoPosts is set.
type listener struct {
	endpoint string
	server   *http.Server
	ready    chan wire.Conn
	closed   chan struct{}
	closing  sync.Once
	serving  sync.WaitGroup
	clients  clients
}

// Listen listens at a. When it returns, clients can connect.
func Listen(ctx context.Context, a transport.Address, c transport.Config) (transport.Listener, error) {
	secure := a.Scheme == "wss" || a.Scheme == "https"
	var cfg *tls.Config
	var err error
	if !secure {
		c.TLS = transport.TLS{} // plain http cannot request certificates
	} else if cfg, err = c.TLS.Server(); err != nil {
		return nil, err
	}
	l := &listener{ready: make(chan wire.Conn), closed: make(chan struct{}), clients: clients{interval: sweepInterval}}
	refused := &refusals{c: c}
	h := &handler{guard: guard{c: c, refused: refused}, hand: l.hand, patience: bodyTimeout, sessions: newSessions(c, refused), name: newName(c)}
	ln, err := h.guard.bind(ctx, a)
	if err != nil {
		return nil, err
	}
	l.endpoint = h.endpoint
	l.server = newServer(h, &l.clients)
	l.server.TLSConfig = cfg
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

func newServer(h *handler, k *clients) *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         k.state,
		ErrorLog:          log.New(warner{h.c}, "", 0),
		ConnContext:       k.connected,
	}
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	return s
}

// warner turns log lines into warnings to the user.
type warner struct{ c transport.Config }

func (w warner) Write(p []byte) (int, error) {
	w.c.Warnf("%s", strings.TrimSpace(string(p)))
	return len(p), nil
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

// Endpoint returns the URL in the form that a client uses.
func (l *listener) Endpoint() string { return l.endpoint }

// Close closes the listener. A connection that has been accepted continues until its Conn is closed.
func (l *listener) Close() error {
	l.closing.Do(func() {
		close(l.closed)
		over, cancel := context.WithCancel(context.Background())
		cancel() // Shutdown then ends only the listener and idle connections
		l.server.Shutdown(over)
		l.serving.Wait()
		l.clients.close()
	})
	return nil
}

// hand passes a connection to Accept. It returns false if the listener is closed.
func (l *listener) hand(ctx context.Context, c wire.Conn) bool {
	if wire.IsClosed(l.closed) {
		return false
	}
	select {
	case l.ready <- c:
		return true
	case <-l.closed:
	case <-ctx.Done():
	}
	return false
}

// sweepInterval is how often rpcx checks for clients that have disconnected.
const sweepInterval = 2 * time.Second

// clients contains the connections of an HTTP listener.
//
// Idle connections are closed with the listener. All others belong to their Conn.
//
// During a request, net/http detects a disconnect by reading one byte ahead. That does not work if the client has sent
// more bytes, and an idle stream would then stay open forever. For this reason, clients also asks the system at regular
// intervals.
type clients struct {
	interval time.Duration

	mu     sync.Mutex
	known  map[net.Conn]*clientState
	timer  *time.Timer // nil if there are no clients
	closed bool
}

type clientState struct {
	leave context.CancelFunc // cancels the work for the client
	idle  bool               // the client has no request at the moment
}

// netKey is the context key for the net.Conn of a request.
type netKey struct{}

// connected implements the ConnContext function of an http.Server. The context ends when the client disconnects.
func (k *clients) connected(ctx context.Context, c net.Conn) context.Context {
	ctx, leave := context.WithCancel(context.WithValue(ctx, netKey{}, c))
	k.mu.Lock()
	defer k.mu.Unlock()
	wire.Put(&k.known, c, &clientState{leave: leave})
	if k.timer == nil {
		k.timer = time.AfterFunc(k.interval, k.sweep)
	}
	return ctx
}

// state implements the ConnState function of an http.Server.
func (k *clients) state(c net.Conn, s http.ConnState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.known[c]
	if of == nil {
		return
	}
	of.idle = s == http.StateNew || s == http.StateIdle
	switch {
	case s == http.StateClosed:
		of.leave()
		delete(k.known, c)
	case s == http.StateHijacked:
		delete(k.known, c)
	case of.idle && k.closed:
		c.Close()
	}
}

// sweep cancels the work for clients that have disconnected.
func (k *clients) sweep() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c, of := range k.known {
		if _, closed := stream.CloseState(c); closed {
			of.leave()
		}
	}
	if k.timer = nil; len(k.known) > 0 {
		k.timer = time.AfterFunc(k.interval, k.sweep)
	}
}

// close closes the idle connections at once, and the others when they become idle.
func (k *clients) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for c, of := range k.known {
		if of.idle {
			c.Close()
		}
	}
}
