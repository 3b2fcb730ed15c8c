package httpserver

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"rpcx/wire/transport/stream"
)

// lookInterval is how often a listener looks whether its clients are still there.
const lookInterval = 2 * time.Second

// clients are the connections of an HTTP listener.
//
// Those that have no request at present end with the listener, while all others belong to their Conn.
//
// While a request is at work, net/http reads one byte ahead to see whether its client hangs up. A
// client that has sent more behind that request takes this away: with it gone, a stream that has
// nothing to say would stay for ever. So the system is asked, too, from time to time.
type clients struct {
	interval time.Duration

	mu     sync.Mutex
	known  map[net.Conn]*clientState
	timer  *time.Timer // nil: nobody is there
	closed bool
}

type clientState struct {
	leave context.CancelFunc // ends what is done for it
	idle  bool               // it has no request
}

// netKey is the key of a request's net.Conn in its context.
type netKey struct{}

// came is an http.Server's ConnContext: the context ends when the client is seen to have
// gone.
func (k *clients) came(ctx context.Context, c net.Conn) context.Context {
	ctx, leave := context.WithCancel(context.WithValue(ctx, netKey{}, c))
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		k.known = map[net.Conn]*clientState{}
	}
	k.known[c] = &clientState{leave: leave}
	if k.timer == nil {
		k.timer = time.AfterFunc(k.interval, k.look)
	}
	return ctx
}

// state is told of the states of connections, as an http.Server's ConnState.
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

// look ends what is done for those who have gone.
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

// close ends the connections that have no request, now and later.
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
