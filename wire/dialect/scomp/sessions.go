package scomp

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"rpcx/wire/scan"
)

const (
	idleLifetime    = 10 * time.Minute // how long a session outlives its last connection
	maxIdleSessions = 1024             // sessions that are kept without a connection; beyond that, the oldest ends
	// maxDeclared bounds the bindings of a client that code can call by name.
	maxDeclared = 4096
)

// A session is a runtime's state; it outlives its connections by idleLifetime.
type session struct {
	id    string
	turn  chan struct{} // capacity one; its holder evaluates
	conns int
	end   *time.Timer // expires the session; set while conns is 0
	left  int         // counts how often conns became 0, so that an old timer has no effect
}

// join returns the session with that id, or a new one with its own id.
func (s *server) join(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	ses := s.sessions[id]
	if ses == nil {
		ses = &session{id: newSession(), turn: make(chan struct{}, 1)}
		if !s.closed {
			s.sessions[ses.id] = ses
		}
	}
	if ses.conns++; ses.end != nil {
		ses.end.Stop()
		ses.end = nil
		s.idle = slices.DeleteFunc(s.idle, func(i *session) bool { return i == ses })
	}
	return ses
}

// leave records that a connection of ses has closed. After the last one, its state is kept for idleLifetime. Beyond
// maxIdleSessions, the session with the longest idle time ends.
func (s *server) leave(ses *session) {
	s.mu.Lock()
	if ses.conns--; ses.conns > 0 || s.closed {
		s.mu.Unlock()
		return
	}
	ses.left++
	left := ses.left
	ses.end = time.AfterFunc(s.keep, func() { s.expire(ses, left) })
	s.idle = append(s.idle, ses)
	var oldest *session
	if len(s.idle) > maxIdleSessions {
		oldest = s.idle[0]
		left = oldest.left
	}
	s.mu.Unlock()
	if oldest != nil {
		s.expire(oldest, left)
	}
}

// expire ends a session, unless it was joined after its last client left (left is the count of that).
func (s *server) expire(ses *session, left int) {
	s.mu.Lock()
	over := ses.end != nil && ses.left == left && !s.closed
	if over {
		ses.end.Stop()
		ses.end = nil
		delete(s.sessions, ses.id)
		s.idle = slices.DeleteFunc(s.idle, func(i *session) bool { return i == ses })
	}
	s.mu.Unlock()
	if over && s.runtime != nil {
		s.runtime.Forget(ses.id)
	}
}

// newSession returns an unguessable id, because knowing it is the only proof of owning the session.
func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return "sess_" + hex.EncodeToString(b[:])
}

// declared has the names of a client's bindings, in order and as a set.
type declared struct {
	names []string
	known map[string]bool
}

func (d *declared) read(bindings []byte) {
	d.known = map[string]bool{}
	for b := range scan.Elements(bindings) {
		name := scan.String(scan.Get(b, "name"))
		if name != "" && !d.known[name] && len(d.names) < maxDeclared {
			d.known[name] = true
			d.names = append(d.names, name)
		}
	}
}
