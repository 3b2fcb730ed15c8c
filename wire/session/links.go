package session

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// links is the part of a conversation that changes with a new connection: the current link, the streams that continue
// on the next one, and how the conversation ended.
type links struct {
	mu         sync.Mutex // guards all fields below
	change     wire.Gate
	link       *link             // nil while there is none
	codec      dialect.Codec     // the error of the last link
	Reconnects atomic.Int64      // how often there was a new one
	over       bool              // there will be no other link, or Close was called
	err        error             // why it is over
	giveUpErr  error             // err, if that is the reason why no other link could be made
	streams    []*resubscription // in the order in which they were opened
}

// current returns the link, or nil while there is none.
func (c *links) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

// finish ends the conversation: there will be no other link. giveUpErr is err if that is the failure of the attempts to
// make one, else nil.
func (c *links) finish(err, giveUpErr error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.err, c.giveUpErr = err, giveUpErr
	}
	c.link, c.over = nil, true
	c.change.Pass()
}

// register ensures that s is reopened after a reconnect. It returns false if the link on which it was opened was
// replaced meanwhile.
func (c *links) register(s *resubscription) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil && c.link != s.on {
		return false
	}
	c.streams = append(c.streams, s)
	return true
}

// unregister removes s from the streams to be reopened.
func (c *links) unregister(s *resubscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = slices.DeleteFunc(c.streams, func(o *resubscription) bool { return o == s })
}

// notReopened returns the next stream to be reopened on l, or nil if there is none. The caller holds the lock.
func (c *links) notReopened(l *link) *resubscription {
	for _, s := range c.streams {
		if s.tried != l {
			return s
		}
	}
	return nil
}

// ended returns why nothing can be sent any more. The lock is held.
func (c *links) ended() error {
	return cmp.Or[error](c.err, wire.NewFault(wire.Closed, "the conversation ended", nil))
}
