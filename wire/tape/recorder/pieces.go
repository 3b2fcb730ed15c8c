package recorder

import (
	"bytes"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// pending contains the last bytes of a direction, which may be a part of a secret. They are recorded together with the bytes that
// follow, or before anything else.
type pending struct {
	text []byte
	at   time.Duration
}

// Pieces returns a function that records bytes which are not messages. A secret can extend over several pieces.
func (c *Conn) Pieces(d wire.Direction) func(piece []byte) {
	if c.plain {
		return func(piece []byte) { c.Message(d, piece) }
	}
	c.broken.Store(true)
	var secrets redact.Stream
	return func(piece []byte) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.record(1-d, 0)
		p := &c.pending[d]
		if len(p.text) == 0 {
			p.at = c.Elapsed()
		}
		p.text = secrets.Append(p.text, piece)
		if c.over {
			c.record(d, 0)
		} else {
			c.record(d, len(p.text)-redact.Settled(p.text))
		}
	}
}

// record records the pending bytes of a direction, except for the last ones, whose number is kept.
func (c *Conn) record(d wire.Direction, kept int) {
	p := &c.pending[d]
	if settled := len(p.text) - kept; settled > 0 {
		c.messages(p.at, d, redact.Spans(p.text[:settled]))
		p.text, p.at = bytes.Clone(p.text[settled:]), c.Elapsed()
	}
}

func (c *Conn) flush() {
	if c.broken.Load() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.record(wire.Send, 0)
		c.record(wire.Recv, 0)
	}
}

// end records the pending pieces. Pieces that arrive later are recorded immediately.
func (c *Conn) end() {
	c.flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}
