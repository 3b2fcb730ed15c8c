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
	never  phase = ""       // before the fault
	head   phase = "head"   // before the connection is established: an upgrade, or a TLS handshake
	greet  phase = "greet"  // the dialect's handshake
	middle phase = "middle" // before the message for which the command waits
	last   phase = "last"   // the message for which the command waits
	after  phase = "after"  // the command has everything
)

// A unit is a single write of the peer: a line, a frame, a head or a chunk.
type unit struct {
	bytes   []byte
	text    string // its message
	phase   phase
	wrap    func(text string) []byte // returns a unit of the same kind with another text
	endless func(i int) []byte       // returns the parts of a unit without an end
}

// errOver reports that the peer ends the connection.
var errOver = errors.New("the connection is over")

// errTurned reports that only a status answered a request.
var errTurned = errors.New("it was turned away")

// A peer is the other end of a cell's connections, with the faulty proxy. Its correct messages pass through send, which
// applies the fault.
type peer struct {
	says  *dialogue
	over  *transport
	fault *fault
	rng   *rand.Rand
	calls int
	asked int  // the number of relevant requests so far
	asks  int  // the number of its own requests so far
	masks bool // whether the peer is a client, which masks its frames
	done  chan struct{}
	note  func(phase) // receives the phase of the fault
	said  string      // the file for its messages, or ""

	talk   sync.Mutex // guards the dialogue
	mu     sync.Mutex
	sent   int // the number of sent units
	struck phase
	was    phase // the phase of the last sent unit
	held   []byte
}

// now returns the phase of the next unit. greets and last describe the unit's message.
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
	strikes := p.fault.strikes(k, u.phase) && (p.struck == never || p.fault.at == atEach)
	if strikes && p.struck == never {
		p.struck = u.phase
		p.note(u.phase)
	}
	if p.fault.clings && u.phase == last && p.struck == never { // from now on, the peer does not disconnect
		p.struck = after
		p.note(after)
	}
	held := p.held
	p.held = nil
	p.mu.Unlock()
	var err error
	if strikes {
		err = p.fault.strike(p, l, u)
	} else {
		err = l.write(u.bytes)
	}
	if err == nil && u.phase != after { // the command may end from here on
		p.hear("recv", u.text)
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

// question returns an unsolicited message, or for a client another request.
func (p *peer) question(n int) string {
	if p.masks {
		return fmt.Sprintf(adding, 1000+n)
	}
	return fmt.Sprintf(p.says.question, n)
}

// strikeNow records a fault before any unit.
func (p *peer) strikeNow(at phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.struck == never {
		p.struck = at
		p.note(at)
	}
}

// answers sends the dialogue's response to a received message.
func (p *peer) answers(in request) (out []string, phases []phase) {
	p.talk.Lock()
	defer p.talk.Unlock()
	out, greets, isLast := p.says.answer(p, in)
	for i := range out {
		phases = append(phases, p.now(greets, isLast && i == len(out)-1))
	}
	if isLast && len(out) > 1 && phases[0] == after {
		phases[len(phases)-1] = after
	}
	return out, phases
}

// serve plays the peer on a connection to its end.
func (p *peer) serve(l *link) {
	defer l.close()
	if err := p.over.carrier(p, l); err == nil && p.fault.clings {
		l.hold(p)
	}
}

// hold waits for the peer's disconnect or the end of the cell.
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

// pause waits for a moment or until the end of the cell.
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
