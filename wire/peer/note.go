package peer

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"rpcx/wire"
)

// A NoteKind classifies a Note.
type NoteKind uint8

const (
	NoteUnhandledRequest      NoteKind = iota // a request was answered with -32601
	NotePassedRequest                         // a request was answered with -32601, because its hooks passed
	NoteUnhandledNotification                 // there was no hook for a notification
	NoteFailedNotification                    // the handler of a notification failed
	NoteUnknownResponse                       // a response to no call, or a second response to one
	NoteStrayError                            // an error without an id that could not be assigned to a call
	NoteMalformed                             // an invalid message
	NoteBusy                                  // a request was answered with "busy", for the first time on this connection
	NoteDropped                               // notifications arrived faster than they were handled, and some were lost
	NotePanic                                 // a handler panicked
	NoteUnsent                                // a response could not be sent
	NoteEvent                                 // an event that belongs to no call
	NoteProgram                               // the dialect could not encode a message
	NoteDetail                                // a detail, for -v
)

// A Note reports something that failed no call but may interest the user.
type Note struct {
	Kind   NoteKind
	Method string      // may be ""
	Text   string      // one line, human-readable, in lower case
	Shown  bool        // a watch of all messages may already have printed the unhandled notification
	Event  *wire.Event // only for NoteEvent
}

// show shows the user an event that belongs to no call.
func (p *Peer) show(ev wire.Event) { p.note(noteOf(ev)) }

// warn reports a problem that only the user, and not the peer, can be notified of.
func (p *Peer) warn(text string) { p.note(Note{Kind: NoteProgram, Text: text}) }

func noteOf(ev wire.Event) Note { return Note{Kind: NoteEvent, Text: ev.Message, Event: &ev} }

// note passes n to Options.Note. The caller must not hold the lock.
func (p *Peer) note(n Note) {
	if p.o.Note != nil {
		p.o.Note(n)
	}
}

// noteLocked stores n, which is reported when the lock is released. The caller holds the lock.
func (p *Peer) noteLocked(n Note) { p.mu.notes = append(p.mu.notes, n) }

// A noteLock is a mutex that reports the notes that were stored while it was held.
type noteLock struct {
	sync.Mutex
	notes  []Note
	report func(Note)
}

// Unlock releases the lock and reports the stored notes.
func (l *noteLock) Unlock() {
	notes := l.notes
	l.notes = nil
	l.Mutex.Unlock()
	for _, n := range notes {
		l.report(n)
	}
}

// excerpt returns the beginning of a message, for a note.
func excerpt(raw []byte) string { return wire.Excerpt(raw, 200) }

// panicText describes a panic in a few lines: its value and where it happened.
func panicText(v any) string {
	lines := strings.Split(string(debug.Stack()), "\n")
	for i, line := range lines { // the frames above belong to recover
		if strings.HasPrefix(line, "panic(") {
			lines = lines[min(i+2, len(lines)):]
			break
		}
	}
	return fmt.Sprintf("a handler panicked: %v\n%s", v, strings.Join(lines[:min(len(lines), 8)], "\n"))
}

func failure(e *wire.Error) wire.Event { return wire.Event{Kind: wire.Failure, Final: true, Err: e} }

func internalError() wire.Event { return failure(wire.NewError(wire.CodeInternal, "internal error")) }
