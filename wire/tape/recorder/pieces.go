package recorder

import (
	"bytes"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// pending is a piece that may end within a secret. It is recorded when the next piece of its direction has arrived, or anything else is
// recorded.
type pending struct {
	text []byte
	at   time.Duration
}

// longestSecret bounds a secret that arrives in pieces.
const longestSecret = 16 << 10

// Pieces returns a function that records bytes as they arrive, in pieces that are not messages. A secret may span several pieces.
func (c *Conn) Pieces(d wire.Direction) func(piece []byte) {
	if c.plain {
		return func(piece []byte) { c.Message(d, piece) }
	}
	c.broken.Store(true)
	var secrets redact.Stream
	return func(piece []byte) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.record(1 - d)
		c.add(d, secrets.Append(nil, piece))
	}
}

// add records what is pending before a secret that piece may end, and piece, unless it may end within a secret.
func (c *Conn) add(d wire.Direction, piece []byte) {
	p := &c.pending[d]
	if before := len(p.text); before > 0 {
		both := append(bytes.Clone(p.text), piece...)
		if start := redact.Divided(both, before); start < before && before-start <= longestSecret {
			at := p.at
			p.text = both[:start]
			c.record(d)
			piece, p.at = both[start:], at
		} else {
			c.record(d)
			p.at = c.Elapsed()
		}
	} else {
		p.at = c.Elapsed()
	}
	if p.text = piece; c.over || redact.Divided(piece, len(piece)) == len(piece) {
		c.record(d)
	}
}

// record records the pending piece of a direction.
func (c *Conn) record(d wire.Direction) {
	p := &c.pending[d]
	if len(p.text) > 0 {
		c.messages(p.at, d, redact.Spans(p.text))
	}
	p.text = nil
}

// flush records the pending pieces.
func (c *Conn) flush() {
	if c.broken.Load() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.record(wire.Send)
		c.record(wire.Recv)
	}
}

// end records the pending pieces; later ones do not wait.
func (c *Conn) end() {
	c.flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}
