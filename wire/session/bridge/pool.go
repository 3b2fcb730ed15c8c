package bridge

import (
	"errors"
	"slices"
	"sync"
)

// maxIdle bounds the idle connections to the peer.
const maxIdle = 16

// A pool has the connections to the peer for calls whose client can receive requests. Each is used for one call at a time, to send the
// peer's requests to the client of that call.
type pool struct {
	mu     sync.Mutex
	idle   []*upstream
	closed bool
}

// take returns a connection on which the client answers these methods.
func (p *pool) take(b *Bridge, answers []string) *upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.idle, func(u *upstream) bool { return slices.Equal(u.declared(), answers) }); i >= 0 {
		u := p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
		return u
	}
	u := newUpstream(b)
	u.declare(answers)
	return u
}

// give returns a connection without calls to the pool.
func (p *pool) give(u *upstream) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= maxIdle {
		return u.close()
	}
	p.idle = append(p.idle, u)
	return nil
}

func (p *pool) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, u := range p.idle {
		err = errors.Join(err, u.close())
	}
	return err
}
