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

// clients are those of an HTTP listener. While a request is at work, net/http reads one byte
// ahead to see whether its client hangs up. A client that has sent more behind that
// request takes this away: with it gone, a stream that has nothing to say would stay
// for ever. So the system is asked, too, from time to time.
type clients struct {
	interval time.Duration

	mu    sync.Mutex
	leave map[net.Conn]context.CancelFunc // ends what is done for one
	timer *time.Timer                     // nil: nobody is there
}

// came is an http.Server's ConnContext: the context ends when the client is seen to have
// gone.
func (k *clients) came(ctx context.Context, c net.Conn) context.Context {
	ctx, leave := context.WithCancel(context.WithValue(ctx, netKey{}, c))
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leave == nil {
		k.leave = map[net.Conn]context.CancelFunc{}
	}
	k.leave[c] = leave
	if k.timer == nil {
		k.timer = time.AfterFunc(k.interval, k.look)
	}
	return ctx
}

// went is told of the states of connections, as an http.Server's ConnState.
func (k *clients) went(c net.Conn, s http.ConnState) {
	if s != http.StateClosed && s != http.StateHijacked {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	leave := k.leave[c]
	delete(k.leave, c)
	if leave != nil && s == http.StateClosed {
		leave()
	}
}

// look ends what is done for those who have gone.
func (k *clients) look() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c, leave := range k.leave {
		if _, gone := stream.FarEnd(c); gone {
			leave()
		}
	}
	if k.timer = nil; len(k.leave) > 0 {
		k.timer = time.AfterFunc(k.interval, k.look)
	}
}
