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

// A phase is where in a conversation something is sent.
type phase string

const (
	never  phase = ""       // the fault did not strike
	head   phase = "head"   // before the connection stands: an upgrade, a TLS handshake
	greet  phase = "greet"  // the dialect's greeting
	middle phase = "middle" // before what the command waits for
	last   phase = "last"   // what the command waits for
	after  phase = "after"  // the command has all that it needs
)

// A unit is what the peer writes at once: a line, a frame, a head, a chunk.
type unit struct {
	bytes   []byte
	text    string // the message in it
	phase   phase
	wrap    func(text string) []byte // a unit of the same kind with another text
	endless func(i int) []byte       // the parts of a unit that never ends
}

// errOver ends a connection from the peer's side.
var errOver = errors.New("the connection is over")

// errTurned is that a request was answered by a status alone.
var errTurned = errors.New("it was turned away")

// A peer is the other end of a cell's connections, faulty proxy included: what
// it says honestly passes through send, where the fault strikes.
type peer struct {
	says  *dialogue
	over  *transport
	fault *fault
	rng   *rand.Rand
	calls int
	asked int  // requests so far that count
	asks  int  // questions so far
	masks bool // it is a client: its frames are masked
	done  chan struct{}
	note  func(phase) // is told where the fault has struck
	said  string      // the file for what has passed before; "" means nobody asks

	talk   sync.Mutex // of the dialogue
	mu     sync.Mutex
	sent   int // units so far
	struck phase
	was    phase // of what was sent last
	held   []byte
}

// now is the phase of what comes next, where the dialogue says that it greets
// or is the last.
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

// send writes a unit, or does what the fault does in its place.
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
	if p.fault.clings && u.phase == last && p.struck == never { // what follows is that it does not go
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
	if err == nil && u.phase != after { // when the command may have gone
		p.hear("recv", u.text)
	}
	if held != nil && err == nil {
		err = l.write(held)
	}
	return err
}

// frame is a WebSocket frame of ours.
func (p *peer) frame(first byte, payload []byte) []byte {
	if p.masks {
		return masked(first, payload)
	}
	return frame(first, payload)
}

// question is a message that nobody asked for; of a client, one more request.
func (p *peer) question(n int) string {
	if p.masks {
		return fmt.Sprintf(adding, 1000+n)
	}
	return fmt.Sprintf(p.says.question, n)
}

// strikeNow tells that the fault has struck before any unit.
func (p *peer) strikeNow(at phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.struck == never {
		p.struck = at
		p.note(at)
	}
}

// answers says what the dialogue answers to what came.
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

// serve plays the peer on a connection until that is over.
func (p *peer) serve(l *link) {
	defer l.close()
	if err := p.over.carrier(p, l); err == nil && p.fault.clings {
		l.hold(p)
	}
}

// hold waits for the peer to disconnect, or for the end of the cell.
func (l *link) hold(p *peer) error {
	select {
	case <-l.ended:
	case <-p.done:
	}
	return errOver
}

// deaf has the link read nothing more.
func (l *link) deaf(p *peer) error {
	l.stop.Store(true)
	<-p.done
	return errOver
}

// pause waits a moment, or for the end of the cell.
func (p *peer) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.done:
	}
}

// stopSelf stops this process, which is the peer.
func stopSelf() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return self.Signal(stopSignal)
}
