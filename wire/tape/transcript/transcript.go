// Package transcript indexes a tape: which messages are requests, which answer
// which, and what came before what. It keeps a few bytes for each message and
// reads the messages themselves from the file when they are needed.
package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
)

// A Transcript is an indexed tape. It is safe for concurrent use.
type Transcript struct {
	Name   string // of the file, for messages to the user
	Header tape.Header
	Tracks []*Track // one for each connection, in the order in which they appear
	Cut    int      // the number of a last line that is incomplete; 0: there is none
	Rules  *match.Rules

	source  io.ReaderAt
	close   func() error
	methods []string
	number  map[string]uint32 // method → its index in methods
}

// None is used in place of an entry's index if there is no entry.
const None = -1

// A Track is one connection of a tape.
type Track struct {
	Conn    int
	Entries []Entry
	Open    *tape.Open  // nil: not on the tape
	Close   *tape.Close // how the connection ended; nil: not on the tape
	Closer  wire.Direction
	Streams map[string]bool // the streams that items belong to, as JSON

	of   *Transcript
	hand map[int32]*tape.Line // lines with something that people wrote, by entry
}

// An Entry is one message of a track: a line, or an element of a batch.
type Entry struct {
	offset   int64
	Hash     uint64 // of a request or notification: see match.Rules.Hash
	length   uint32
	Line     uint32 // its line's number on the tape
	method   uint32
	Own      int32 // of a response: the entry that it answers; else None
	Need     int32 // the last entry of the other side before it, or None
	elem     int32 // its index in a batch; None: it is a message of its own
	Dir      wire.Direction
	Kind     wire.Kind // Request, Notification, Response; Invalid: anything else
	Redacted bool      // it holds a redacted string
	Hand     bool      // people wrote something into its line: see Track.Hand
}

// Batched reports whether the entry is an element of a batch.
func (e *Entry) Batched() bool { return e.elem != None }

// Shapes returns how the messages of a dialect are read; "" is the default
// dialect. The error is a usage Fault.
type Shapes func(dialect string) (dialect.Shape, error)

// keepWhole bounds the tapes that are kept in memory as a whole.
const keepWhole = 16 << 20

// Open indexes the tape in the file name; "-" is stdin. The Transcript must be
// closed.
func Open(name string, stdin io.Reader, shapes Shapes, rules func(dialect.Shape) *match.Rules) (*Transcript, error) {
	if name == "-" {
		b, err := io.ReadAll(stdin)
		if err != nil {
			return nil, wire.NewFault(wire.IO, "reading a tape from stdin: "+err.Error(), err)
		}
		return Read(bytes.NewReader(b), "-", shapes, rules)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		_ = f.Close()
		return nil, unreadable(name, err)
	}
	if !info.Mode().IsRegular() || info.Size() <= keepWhole {
		b, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil {
			return nil, unreadable(name, err)
		}
		return Read(bytes.NewReader(b), name, shapes, rules)
	}
	t, err := Read(f, name, shapes, rules)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	t.close = f.Close
	return t, nil
}

func unreadable(name string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return wire.NewFault(wire.Usage, fmt.Sprintf("the tape %s cannot be read: %v", name, err), err)
}

// Read indexes the tape in source, which the Transcript goes on reading.
func Read(source interface {
	io.Reader
	io.ReaderAt
}, name string, shapes Shapes, rules func(dialect.Shape) *match.Rules,
) (*Transcript, error) {
	r, err := tape.NewReader(source, name)
	if err != nil {
		return nil, err
	}
	shape, err := shapes(r.Header().Dialect)
	if err != nil {
		return nil, tape.Fault(name, 1, err)
	}
	t := &Transcript{Name: name, Header: r.Header(), Rules: rules(shape), source: source, number: map[string]uint32{}}
	l := newLoader(t)
	if f, ok := source.(interface{ Stat() (os.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil {
			l.size = info.Size()
		}
	}
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := l.add(r, line); err != nil {
			return nil, tape.Fault(name, line.Number, err)
		}
	}
	if line, cut := r.Cut(); cut {
		t.Cut = line
	}
	return t, l.finish()
}

// Reader returns a reader of the tape's lines, from the first.
func (t *Transcript) Reader() (*tape.Reader, error) {
	return tape.NewReader(io.NewSectionReader(t.source, 0, 1<<62), t.Name)
}

// Close closes the file.
func (t *Transcript) Close() error {
	if t.close == nil {
		return nil
	}
	return t.close()
}

// Method returns the method of entry i, or of the request that it answers; ""
// if there is none.
func (t *Track) Method(i int) string {
	e := &t.Entries[i]
	if e.Kind == wire.Response && e.Own != None {
		e = &t.Entries[e.Own]
	}
	return t.of.methods[e.method]
}

// Hand returns the line of entry i if people wrote something into it, else nil.
func (t *Track) Hand(i int) *tape.Line { return t.hand[int32(i)] }

// Message returns the message of entry i, JSON or not; nil if the line has
// none.
func (t *Track) Message(i int) ([]byte, error) {
	e := &t.Entries[i]
	b := make([]byte, e.length)
	if _, err := t.of.source.ReadAt(b, e.offset); err != nil && err != io.EOF {
		return nil, wire.NewFault(wire.IO, fmt.Sprintf("reading the tape %s: %v", t.of.Name, err), err)
	}
	line := tape.Line{Number: int(e.Line)}
	if err := line.ParseLine(b); err != nil {
		return nil, tape.Fault(t.of.Name, int(e.Line), fmt.Errorf("it was changed while it was read: %w", err))
	}
	if e.elem == None {
		return line.Payload(), nil
	}
	parts, _ := match.Elements(line.Msg)
	if int(e.elem) >= len(parts) {
		return nil, tape.Fault(t.of.Name, int(e.Line), errors.New("it was changed while it was read"))
	}
	return parts[e.elem], nil
}

// Line returns the line of entry i, which it reads from the file.
func (t *Track) Line(i int) (*tape.Line, error) {
	e := &t.Entries[i]
	b := make([]byte, e.length)
	if _, err := t.of.source.ReadAt(b, e.offset); err != nil && err != io.EOF {
		return nil, wire.NewFault(wire.IO, fmt.Sprintf("reading the tape %s: %v", t.of.Name, err), err)
	}
	line := &tape.Line{Number: int(e.Line)}
	return line, line.ParseLine(b)
}

// Gap returns how much later than the entry before it entry i was recorded; 0
// if that is not known.
func (t *Track) Gap(i int) time.Duration {
	if i < 1 {
		return 0
	}
	this, err := t.Line(i)
	if err != nil {
		return 0
	}
	before, err := t.Line(i - 1)
	if err != nil {
		return 0
	}
	return this.Time - before.Time
}

// Of returns the transcript of the track.
func (t *Track) Of() *Transcript { return t.of }

// Empty returns a track of t without entries.
func Empty(t *Transcript) *Track { return &Track{of: t} }
