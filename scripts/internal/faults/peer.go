//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// A phase is a part of a conversation.
type phase string

const (
	never  phase = ""       // the fault has not occurred
	head   phase = "head"   // before the connection is established: an upgrade or a TLS handshake
	greet  phase = "greet"  // the dialect's handshake
	middle phase = "middle" // before the message for which the command waits
	last   phase = "last"   // the message that the command waits for
	after  phase = "after"  // the command has received everything
)

// A unit is one write of the peer: a line, a frame, a head or a chunk.
type unit struct {
	bytes   []byte
	text    string // the message in the unit
	phase   phase
	wrap    func(text string) []byte // returns a unit of the same form with another text
	endless func(i int) []byte       // returns the parts of a unit that does not end
}

// errOver means that the peer ends the connection.
var errOver = errors.New("the connection is over")

// errRejected means that a request was answered only with an HTTP status.
var errRejected = errors.New("it was turned away")

// A peer is the other end of a cell's connections, including the faulty proxy. Its correct messages pass through send, which
// performs the fault.
type peer struct {
	dialogue *dialogue
	over     *transport
	fault    *fault
	rng      *rand.Rand
	calls    int
	asked    int  // number of relevant requests so far
	asks     int  // number of its own requests so far
	masks    bool // the peer is a client, which masks its frames
	done     chan struct{}
	note     func(phase) // gets the phase of the fault
	recordTo string      // the file to which messages are written, or ""

	talk     sync.Mutex // guards the dialogue
	mu       sync.Mutex
	sent     int // number of units sent
	occurred phase
	was      phase // the phase of the latest unit
	held     []byte
}

// now returns the phase of the next unit. greets and isLast describe the message in it.
func (p *peer) now(greets, isLast bool) phase {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.was == last || p.was == after:
		return after
	case greets:
		return greet
	case isLast:
		return last
	}
	return middle
}

// send writes a unit or performs the fault.
func (p *peer) send(l *link, u unit) error {
	p.mu.Lock()
	k := p.sent
	p.sent++
	p.was = u.phase
	strikes := p.fault.appliesTo(k, u.phase) && (p.occurred == never || p.fault.at == atEach)
	if strikes && p.occurred == never {
		p.occurred = u.phase
		p.note(u.phase)
	}
	if p.fault.staysOpen && u.phase == last && p.occurred == never { // the peer does not close from here on
		p.occurred = after
		p.note(after)
	}
	held := p.held
	p.held = nil
	p.mu.Unlock()
	var err error
	if strikes {
		err = p.fault.perform(p, l, u)
	} else {
		err = l.write(u.bytes)
	}
	if err == nil && u.phase != after { // after that, the command may end at any time
		p.record("recv", u.text)
	}
	if held != nil && err == nil {
		err = l.write(held)
	}
	return err
}

// frame returns a WebSocket frame of the peer.
func (p *peer) frame(first byte, payload []byte) []byte {
	if p.masks {
		return masked(first, payload)
	}
	return frame(first, payload)
}

// question returns an unsolicited message or, for a client, another request.
func (p *peer) question(n int) string {
	if p.masks {
		return fmt.Sprintf(adding, 1000+n)
	}
	return fmt.Sprintf(p.dialogue.question, n)
}

// recordFault records a fault that precedes all units.
func (p *peer) recordFault(at phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.occurred == never {
		p.occurred = at
		p.note(at)
	}
}

// answers returns the dialogue's response to a message.
func (p *peer) answers(in request) (out []string, phases []phase) {
	p.talk.Lock()
	defer p.talk.Unlock()
	out, greets, isLast := p.dialogue.answer(p, in)
	for i := range out {
		phases = append(phases, p.now(greets, isLast && i == len(out)-1))
	}
	if isLast && len(out) > 1 && phases[0] == after {
		phases[len(phases)-1] = after
	}
	return out, phases
}

// serve plays the peer on a connection until it ends.
func (p *peer) serve(l *link) {
	defer l.close()
	if err := p.over.carrier(p, l); err == nil && p.fault.staysOpen {
		l.hold(p)
	}
}

// hold waits until the other side closes or the cell ends.
func (l *link) hold(p *peer) error {
	select {
	case <-l.ended:
	case <-p.done:
	}
	return errOver
}

// deaf makes the link stop reading.
func (l *link) deaf(p *peer) error {
	l.stop.Store(true)
	<-p.done
	return errOver
}

// pause waits for a time, or until the cell ends.
func (p *peer) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.done:
	}
}

// stopSelf stops the peer's own process.
func stopSelf() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return self.Signal(stopSignal)
}
