package stream

import (
	"net"
	"sync"
	"sync/atomic"

	"rpcx/wire/transport"
)

// defaultClients is the default of Config.MaxClients.
const defaultClients = 1000

// Limit bounds the simultaneous connections of a listener. It closes connections beyond that number.
type Limit struct {
	most  int64
	taken atomic.Int64
	warn  func(format string, args ...any)
	told  sync.Once
}

func NewLimit(c transport.Config) *Limit {
	most := c.MaxClients
	if most <= 0 {
		most = defaultClients
	}
	return &Limit{most: int64(most), warn: c.Warnf}
}

// Acquire returns conn with a place, which is freed when conn closes. If there is no place, it closes conn and returns
// nil.
func (p *Limit) Acquire(conn net.Conn) (leave func()) {
	if p.taken.Add(1) <= p.most {
		return sync.OnceFunc(func() { p.taken.Add(-1) })
	}
	p.taken.Add(-1)
	p.told.Do(func() {
		p.warn("%d clients are connected, which is the limit: further connections are refused", p.most)
	})
	conn.Close()
	return nil
}
