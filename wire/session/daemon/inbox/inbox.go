// Package inbox stores the calls in a session that other processes will answer.
package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/session/relay"
)

// An Inbox parks calls from the peer (`--on NAME=inbox`) until another process answers them or they time out.
type Inbox struct {
	timeout       time.Duration   // 0 means no timeout
	defaultAnswer json.RawMessage // the answer to a call that times out; if nil, an error

	mu       sync.Mutex
	last     int64
	reserved map[string]int64 // the numbers of calls that are about to be parked, by request id
	parked   []*parked        // oldest first
	more     wire.Gate        // opens when a call can be claimed
}

// New returns an Inbox that parks a call for at most timeout. A timeout of 0 means as long as the peer waits. After the
// timeout, the call is answered with value, or with an error if value is nil.
func New(timeout time.Duration, value json.RawMessage) *Inbox {
	return &Inbox{timeout: timeout, defaultAnswer: value}
}

// maxParked is the maximum number of parked calls.
const maxParked = 1024

// A parked is one parked call.
type parked struct {
	id       int64
	method   string
	params   json.RawMessage
	claimant *relay.Process // the process that has claimed the call but has not shown it yet
	claimed  bool
	lease    *time.Timer
	answer   chan parkedAnswer // has a buffer for one answer
}

type parkedAnswer struct {
	result json.RawMessage
	err    error
}

// Park waits until r has been answered.
func (b *Inbox) Park(ctx context.Context, r dialect.Request) (json.RawMessage, error) {
	if r.Notification {
		return nil, nil // the notification is already in the ring
	}
	p, err := b.add(r)
	if err != nil {
		return nil, err
	}
	waiting, stop := ctx, func() {}
	if b.timeout > 0 {
		waiting, stop = context.WithTimeout(ctx, b.timeout)
	}
	defer stop()
	select {
	case a := <-p.answer:
		return a.result, a.err
	case <-waiting.Done():
	}
	switch a := b.withdraw(p); {
	case a != nil: // the process that answered was notified that the answer counts
		return a.result, a.err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case b.defaultAnswer == nil:
		return nil, wire.TryAgain("no process answered")
	}
	return b.defaultAnswer, nil
}

// withdraw removes a call. If the call has been answered, withdraw returns the answer instead.
func (b *Inbox) withdraw(p *parked) *parkedAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.find(p.id) == nil {
		a := <-p.answer
		return &a
	}
	b.remove(p)
	return nil
}

// Reserve assigns a number to a call that will be parked. Calls are processed concurrently and may be parked in another
// order than they arrived.
func (b *Inbox) Reserve(id wire.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reserved == nil || len(b.reserved) > maxParked { // some reserved calls are rejected and never parked
		b.reserved = map[string]int64{}
	}
	b.last++
	b.reserved[string(id)] = b.last
}

// number returns the number of a call that is being parked. The caller holds the lock.
func (b *Inbox) number(id wire.ID) int64 {
	n := b.reserved[string(id)]
	if n == 0 {
		b.last++
		return b.last
	}
	delete(b.reserved, string(id))
	return n
}

func (b *Inbox) add(r dialect.Request) (*parked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.parked) >= maxParked {
		return nil, wire.TryAgain("busy")
	}
	p := &parked{id: b.number(r.ID), method: r.Method, params: r.Params, answer: make(chan parkedAnswer, 1)}
	at, _ := slices.BinarySearchFunc(b.parked, p.id, func(q *parked, id int64) int { return cmp.Compare(q.id, id) })
	b.parked = slices.Insert(b.parked, at, p)
	b.more.Pass()
	return p, nil
}

// remove removes a call. The caller holds the lock.
func (b *Inbox) remove(p *parked) {
	p.release()
	b.parked = slices.DeleteFunc(b.parked, func(q *parked) bool { return q == p })
}

// release ends the claim on p. The caller holds the lock.
func (p *parked) release() {
	p.claimed, p.claimant = false, nil
	if p.lease != nil {
		p.lease.Stop()
		p.lease = nil
	}
}

// claim waits for an unclaimed call of method (of any method if it is "") and assigns the oldest to h's process. If
// that process ends before it has shown the call, the claim ends at once. Otherwise it ends with the lease.
func (b *Inbox) claim(ctx context.Context, h *relay.Process, method string) (*parked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for _, p := range b.parked {
			if !p.claimed && (method == "" || p.method == method) {
				p.claimed, p.claimant = true, h
				return p, nil
			}
		}
		if err := b.more.Await(ctx, &b.mu); err != nil {
			return nil, err
		}
	}
}

// acknowledge records that h's process has shown the call with this id. The lease starts now.
func (b *Inbox) acknowledge(h *relay.Process, id int64, lease time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.find(id)
	if p == nil || p.claimant != h {
		return nothingParked(id)
	}
	p.claimant = nil
	p.lease = time.AfterFunc(lease, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		p.release()
		b.more.Pass()
	})
	return nil
}

// Release ends the claims of h's process on calls that the process has not shown.
func (b *Inbox) Release(h *relay.Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.parked {
		if p.claimant == h {
			p.release()
		}
	}
	b.more.Pass()
}

// reply answers the call with this id, whether or not a process has claimed it.
func (b *Inbox) reply(id int64, a parkedAnswer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.find(id)
	if p == nil {
		return nothingParked(id)
	}
	b.remove(p)
	p.answer <- a
	return nil
}

// find returns the call with this id. The caller holds the lock.
func (b *Inbox) find(id int64) *parked {
	for _, p := range b.parked {
		if p.id == id {
			return p
		}
	}
	return nil
}

func nothingParked(id int64) error {
	return wire.NewFault(wire.Conflict, fmt.Sprintf("call %d is not in the inbox; it may have timed out, or have been answered or cancelled", id), nil)
}

// Counts returns the number of unclaimed calls and the number of claimed calls.
func (b *Inbox) Counts() (waiting, claimed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.parked {
		if p.claimed {
			claimed++
		}
	}
	return len(b.parked) - claimed, claimed
}
