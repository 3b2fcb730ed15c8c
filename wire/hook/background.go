package hook

import (
	"time"

	"rpcx/wire/transport/child"
)

// lookEach is the interval of checking process groups that hooks have left in the background. After a group has ended,
// the system may reuse its number.
const lookEach = time.Second

// keep stores the process group of a command that has answered but has left processes in the background. These may
// still call the peer. The group is ended with the connection.
func (b *ConnectionHooks) keep(p *child.Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		b.wg.Go(func() { p.EndWithin(b.t.o.Hurry, grace) })
		return
	}
	if b.background = append(b.background, p); len(b.background) == 1 {
		b.wg.Go(b.watchBackground)
	}
}

// watchBackground forgets groups that have ended, until there are none, or until Close.
func (b *ConnectionHooks) watchBackground() {
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for b.forgetEnded() {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			return
		}
	}
}

// forgetEnded reports whether there are groups left.
func (b *ConnectionHooks) forgetEnded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	alive := b.background[:0]
	for _, p := range b.background {
		if p.LeftBehind() {
			alive = append(alive, p)
		}
	}
	clear(b.background[len(alive):])
	b.background = alive
	return len(alive) > 0
}
