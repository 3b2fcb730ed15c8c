package session

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// links is the state of a conversation that changes with its connections: the current link, the streams that continue
// on the next one, and how the conversation ended.
type links struct {
	mu         sync.Mutex // guards the fields below
	change     wire.Gate
	link       *link             // may be nil
	codec      dialect.Codec     // the codec of the latest link
	Reconnects atomic.Int64      // how many links have replaced a lost one
	over       bool              // there will be no further link, because Close was called or reconnecting failed
	err        error             // why there will be no further link
	giveUpErr  error             // err if all attempts to reconnect failed, else nil
	streams    []*resubscription // in the order in which they were opened
}

// current returns the current link, or nil.
func (c *links) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

// finish ends the conversation without another link. giveUpErr is err if all attempts to reconnect failed, else nil.
func (c *links) finish(err, giveUpErr error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.err, c.giveUpErr = err, giveUpErr
	}
	c.link, c.over = nil, true
	c.change.Pass()
}

// register makes s continue on later links. It returns false if the link on which s was opened has already been
// replaced.
func (c *links) register(s *resubscription) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil && c.link != s.next.l {
		return false
	}
	c.streams = append(c.streams, s)
	return true
}

func (c *links) unregister(s *resubscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = slices.DeleteFunc(c.streams, func(o *resubscription) bool { return o == s })
}

// notReopened returns the next stream that has to be reopened on l, or nil. The caller holds the lock.
func (c *links) notReopened(l *link) *resubscription {
	for _, s := range c.streams {
		if s.tried != l {
			return s
		}
	}
	return nil
}

// ended returns why no message can be sent any longer. The caller holds the lock.
func (c *links) ended() error {
	return cmp.Or[error](c.err, wire.NewFault(wire.Closed, "the conversation ended", nil))
}
