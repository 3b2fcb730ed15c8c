package session

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// links is the part of a conversation that changes with each connection: the current link, the streams that continue on
// the next link, and how the conversation ended.
type links struct {
	mu         sync.Mutex // guards all fields below
	change     wire.Gate
	link       *link             // nil while there is none
	codec      dialect.Codec     // the codec of the last link
	Reconnects atomic.Int64      // the number of new links after a lost connection
	over       bool              // no other link will be opened, or Close was called
	err        error             // why no other link will be opened
	giveUpErr  error             // err, if the attempts to open another link failed; nil otherwise
	streams    []*resubscription // in the order of opening
}

// current returns the current link, or nil if there is none.
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

// register ensures that s is reopened after a reconnect. It returns false if the link on which s was opened has been
// replaced in the meantime.
func (c *links) register(s *resubscription) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil && c.link != s.on {
		return false
	}
	c.streams = append(c.streams, s)
	return true
}

// unregister removes s from the streams to reopen.
func (c *links) unregister(s *resubscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = slices.DeleteFunc(c.streams, func(o *resubscription) bool { return o == s })
}

// notReopened returns the next stream to reopen on l, or nil if all streams have been reopened. The lock must be held.
func (c *links) notReopened(l *link) *resubscription {
	for _, s := range c.streams {
		if s.tried != l {
			return s
		}
	}
	return nil
}

// ended returns the reason why no message can be sent any more. The lock must be held.
func (c *links) ended() error {
	return cmp.Or[error](c.err, wire.NewFault(wire.Closed, "the conversation ended", nil))
}
