package scomp

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"rpcx/wire/scan"
)

const (
	keep     = 10 * time.Minute // how long a session outlives its last connection
	idleMost = 1024             // sessions that are kept so; beyond, the oldest ends
	// declaredMost bounds the bindings of a client that code can call by name.
	declaredMost = 4096
)

// A session is a runtime's state, which connections come and go with.
type session struct {
	id    string
	turn  chan struct{} // holds one: evals take turns, in the order in which they came
	conns int
	end   *time.Timer // while conns is 0
	left  int         // how often its last connection went
}

// join returns the session of that id, or a new one where there is none.
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

// leave notes that a connection of ses has gone. After the last one its state is
// kept for a while.
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
	if len(s.idle) > idleMost {
		oldest = s.idle[0]
		left = oldest.left
	}
	s.mu.Unlock()
	if oldest != nil {
		s.expire(oldest, left)
	}
}

// expire ends a session, unless somebody has joined it since it was left for
// that time.
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

// newSession is an id that nobody guesses: who knows it has the session.
func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return "sess_" + hex.EncodeToString(b[:])
}

// declared are the names of a client's bindings.
type declared struct {
	names []string
	known map[string]bool
}

func (d *declared) read(bindings []byte) {
	d.known = map[string]bool{}
	for b := range elements(bindings) {
		name := text(scan.Get(b, "name"))
		if name != "" && !d.known[name] && len(d.names) < declaredMost {
			d.known[name] = true
			d.names = append(d.names, name)
		}
	}
}
