package httpserver

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport/stream"
)

// lookInterval is how often a listener checks whether its clients are still connected.
const lookInterval = 2 * time.Second

// clients are the connections of an HTTP listener.
//
// Idle ones end with the listener, while all others belong to their Conn.
//
// During a request, net/http reads one byte ahead to detect that its client disconnects. A client that has sent more
// bytes defeats this, and an idle stream would then stay open forever. So clients also queries the system from time to
// time.
type clients struct {
	interval time.Duration

	mu     sync.Mutex
	known  map[net.Conn]*clientState
	timer  *time.Timer // nil for no clients
	closed bool
}

type clientState struct {
	leave context.CancelFunc // ends the work for it
	idle  bool               // it has no request
}

// netKey is the key of a request's net.Conn in its context.
type netKey struct{}

// came is an http.Server's ConnContext. The context ends when the client has disconnected.
func (k *clients) came(ctx context.Context, c net.Conn) context.Context {
	ctx, leave := context.WithCancel(context.WithValue(ctx, netKey{}, c))
	k.mu.Lock()
	defer k.mu.Unlock()
	wire.Put(&k.known, c, &clientState{leave: leave})
	if k.timer == nil {
		k.timer = time.AfterFunc(k.interval, k.look)
	}
	return ctx
}

// state is an http.Server's ConnState.
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

// look ends the work for clients that have disconnected.
func (k *clients) look() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c, of := range k.known {
		if _, gone := stream.FarEnd(c); gone {
			of.leave()
		}
	}
	if k.timer = nil; len(k.known) > 0 {
		k.timer = time.AfterFunc(k.interval, k.look)
	}
}

// close ends the connections without a request, now and later.
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
