package peer

import (
	"rpcx/wire"
	"rpcx/wire/peer/inbound"
	"rpcx/wire/scan"
)

// receiveAll reads until the connection ends and returns the reason for the end.
func (p *Peer) receiveAll() error {
	for {
		raw, err := p.conn.Recv()
		if err != nil {
			return err
		}
		if p.buffered != nil && p.o.Tap == nil {
			err = p.receiveRead(raw)
		} else {
			p.tap(wire.Recv, raw)
			err = p.receive(raw, nil)
		}
		if err != nil {
			return err
		}
	}
}

// maxRoutedTogether is how many messages are routed before other goroutines can get the lock.
const maxRoutedTogether = 256

// receiveRead processes raw and the messages that were read together with it. It first records them, without holding
// the lock.
func (p *Peer) receiveRead(raw []byte) (err error) {
	p.together = p.buffered.Buffered(append(p.together[:0], raw), maxRoutedTogether)
	if p.o.Record != nil {
		p.o.Record(wire.Recv, p.together[0], p.together[1:]...)
	}
	for rest := p.together; len(rest) > 0 && err == nil; {
		p.mu.Lock()
		for {
			err = p.decodeLocked(rest[0], nil)
			if rest = rest[1:]; len(rest) == 0 || err != nil || len(p.mu.notes) > 0 || p.mustStopLocked(nil) {
				break
			}
		}
		p.throttleLocked(nil)
		p.mu.Unlock()
	}
	return err
}

// receive decodes and routes raw. in is the call whose exchange carried raw, or nil if the connection carries messages
// in both directions. receive waits while the reader must stop. If it returns an error, the connection ends.
func (p *Peer) receive(raw []byte, in *stream) error {
	if p.exchanger != nil {
		p.exchanges.recv.Lock()
	}
	p.mu.Lock()
	err := p.decodeLocked(raw, in)
	if p.exchanger != nil {
		p.exchanges.recv.Unlock()
	}
	p.throttleLocked(in)
	p.mu.Unlock()
	return err
}

// decodeLocked decodes raw and routes its messages.
func (p *Peer) decodeLocked(raw []byte, in *stream) error {
	p.releaseEarlyLocked()
	if p.notifications.Trim() {
		p.noteLocked(Note{Kind: NoteDropped, Text: "notifications arrive faster than they are handled: the oldest are dropped"})
	}
	msgs, batch, err := p.codec.Decode(raw)
	if batch && p.takenWholeLocked(msgs, raw, in) {
		msgs, batch = nil, false
	}
	var g *inbound.Array
	if batch {
		g = &inbound.Array{}
	}
	for i := range msgs { // Decode may return messages together with an error
		if p.o.Client {
			nameBare(&msgs[i])
		}
		p.routeLocked(&msgs[i], g, in)
	}
	p.releaseEarlyLocked()
	if g != nil {
		g.Complete()
		p.sendArrayLocked(g)
	}
	return err
}

// nameBare gives a method to an object from a server that is not a message of the dialect. Watches and hooks then treat
// it as an event. Its params are the whole object.
func nameBare(m *wire.Message) {
	if m.Kind != wire.Invalid || m.Method != "" || m.Final || isParseError(m) || scan.Type(m.Raw) != 'o' {
		return
	}
	m.Params, m.Body, m.Bare = m.Raw, m.Raw, true
	for _, member := range [...]string{"event", "notification", "type"} { // the most specific name first
		if name, ok := scan.Text(scan.Get(m.Raw, member)); ok && name != "" {
			m.Method = name
			return
		}
	}
}
