package peer

import (
	"fmt"
	"runtime/debug"
	"strings"

	"rpcx/wire"
)

// A NoteKind is the subject of a Note.
type NoteKind uint8

// These are the kinds of notes.
const (
	NoteUnhandledRequest      NoteKind = iota // a request was answered with -32601
	NoteUnhandledNotification                 // a notification that nothing handled
	NoteFailedNotification                    // the handler of a notification failed
	NoteUnknownResponse                       // a response without a call, or the second response to a call
	NoteStrayError                            // an error without an id that does not belong to exactly one call
	NoteMalformed                             // an invalid message
	NoteBusy                                  // a request was answered with "busy", for the first time on this connection
	NoteDropped                               // notifications were lost because they arrived faster than they were handled
	NotePanic                                 // a handler panicked
	NoteUnsent                                // a response could not be sent
	NoteEvent                                 // Event, which belongs to no call
	NoteProgram                               // the dialect could not make a message that it should have sent
	NoteDetail                                // a detail for -v
)

// A Note reports an occurrence that failed no call but may interest a user.
type Note struct {
	Kind   NoteKind
	Method string      // "" if there is none or it is unknown
	Text   string      // a line for people, lower case
	Shown  bool        // for an unhandled notification: a watch of all messages received it and may have shown it
	Err    *wire.Error // for NoteStrayError; nil otherwise
	Event  *wire.Event // for NoteEvent; nil otherwise
}

// show shows the user an event that belongs to no call.
func (p *Peer) show(ev wire.Event) { p.note(noteOf(ev)) }

// warn reports to the user a problem that cannot be reported to the peer.
func (p *Peer) warn(text string) { p.note(Note{Kind: NoteProgram, Text: text}) }

func noteOf(ev wire.Event) Note { return Note{Kind: NoteEvent, Text: ev.Message, Event: &ev} }

// note passes n to Options.Note. The lock must not be held by the caller.
func (p *Peer) note(n Note) {
	if p.o.Note != nil {
		p.o.Note(n)
	}
}

// noteLocked keeps n until unlockAndTell releases the lock.
func (p *Peer) noteLocked(n Note) {
	if p.o.Note != nil {
		p.pendingNotes = append(p.pendingNotes, n)
	}
}

// unlockAndTell releases the lock and passes the kept notes to Options.Note.
func (p *Peer) unlockAndTell() {
	notes := p.pendingNotes
	p.pendingNotes = nil
	p.mu.Unlock()
	for _, n := range notes {
		p.note(n)
	}
}

// excerpt returns the beginning of a message, for a note.
func excerpt(raw []byte) string {
	const most = 200
	if len(raw) > most {
		return string(raw[:most]) + "…"
	}
	return string(raw)
}

// panicText describes a panic in a few lines: its value and where it happened.
func panicText(v any) string {
	lines := strings.Split(string(debug.Stack()), "\n")
	for i, line := range lines { // the preceding frames belong to the recovery
		if strings.HasPrefix(line, "panic(") {
			lines = lines[min(i+2, len(lines)):]
			break
		}
	}
	return fmt.Sprintf("a handler panicked: %v\n%s", v, strings.Join(lines[:min(len(lines), 8)], "\n"))
}

func failure(e *wire.Error) wire.Event { return wire.Event{Kind: wire.Failure, Final: true, Err: e} }

func internalError() wire.Event { return failure(wire.NewError(wire.CodeInternal, "internal error")) }

func noMethod(name string) *wire.Error {
	return wire.Errorf(wire.CodeNoMethod, "method not found: %s", name)
}
