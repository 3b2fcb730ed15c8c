package recorder

import (
	"bytes"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// pending is a piece whose end may be part of a secret. It is recorded before the next piece of its direction, and before anything
// else.
type pending struct {
	text []byte
	at   time.Duration
}

// longestSecret is the maximum length, in bytes, of a secret that several pieces may contain.
const longestSecret = 16 << 10

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
		c.record(1 - d)
		c.add(d, secrets.Append(nil, piece))
	}
}

// add records the pending bytes and piece, except for trailing bytes that may belong to a secret.
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

func (c *Conn) record(d wire.Direction) {
	p := &c.pending[d]
	if len(p.text) > 0 {
		c.messages(p.at, d, redact.Spans(p.text))
	}
	p.text = nil
}

func (c *Conn) flush() {
	if c.broken.Load() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.record(wire.Send)
		c.record(wire.Recv)
	}
}

// end records the pending pieces. Pieces that arrive later are recorded immediately.
func (c *Conn) end() {
	c.flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}
