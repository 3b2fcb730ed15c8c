// Package transcript is a tape taken apart: which messages are requests, which
// answer which, what came before what. It keeps some bytes for each message, and
// reads the messages themselves from the file when they are asked for.
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

// A Transcript is a tape that was read whole. It may be used by any number of
// goroutines.
type Transcript struct {
	Name   string // of the file, for words to a user
	Header tape.Header
	Tracks []*Track // one a connection, in the order in which they appear
	Cut    int      // the line inside which the file ends; 0: it ends with a whole line
	Rules  *match.Rules

	source  io.ReaderAt
	close   func() error
	methods []string
	number  map[string]uint32 // method → its place in methods
}

// None stands for no entry where there could be one.
const None = -1

// A Track is one connection of a tape.
type Track struct {
	Conn    int
	Entries []Entry
	Open    *tape.Open  // nil: not on the tape
	Close   *tape.Close // how the connection ended; nil: not on the tape
	Closer  wire.Direction
	Streams map[string]bool // the streams that items belong to, as JSON texts

	of   *Transcript
	hand map[int32]*tape.Line // the lines that people wrote, by entry
}

// An Entry is one message of a track: a line, or an element of a batch.
type Entry struct {
	offset   int64
	Hash     uint64 // of a request or notification: see match.Rules.Hash
	length   uint32
	Line     uint32 // its number on the tape
	method   uint32
	Own      int32 // of a response: the entry that it answers; else None
	Need     int32 // the last entry of the other side before it; None
	elem     int32 // which element of a batch it is; None: it is a message of its own
	Dir      wire.Direction
	Kind     wire.Kind // Request, Notification, Response; Invalid: anything else
	Redacted bool      // a string of it is tape.Redacted
	Hand     bool      // people wrote on it: see Track.Hand
}

// Batched reports whether the entry is an element of a batch.
func (e *Entry) Batched() bool { return e.elem != None }

// Shapes says how the messages of a dialect are told apart, "" being the usual
// one. Its error is a usage Fault.
type Shapes func(dialect string) (dialect.Shape, error)

// keepWhole is the size up to which a tape is kept in memory.
const keepWhole = 16 << 20

// Open reads the tape in the file name; "-" is stdin. The Transcript must be
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

// Read reads the tape in source, which the Transcript goes on using.
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

// Reader reads the tape's lines again, from the first.
func (t *Transcript) Reader() (*tape.Reader, error) {
	return tape.NewReader(io.NewSectionReader(t.source, 0, 1<<62), t.Name)
}

// Close ends the use of the file.
func (t *Transcript) Close() error {
	if t.close == nil {
		return nil
	}
	return t.close()
}

// Method returns the name that the message of entry i has, or the one that it
// answers; "": none.
func (t *Track) Method(i int) string {
	e := &t.Entries[i]
	if e.Kind == wire.Response && e.Own != None {
		e = &t.Entries[e.Own]
	}
	return t.of.methods[e.method]
}

// Hand returns the line of entry i where people wrote on it, else nil.
func (t *Track) Hand(i int) *tape.Line { return t.hand[int32(i)] }

// Message reads the message of entry i, as JSON or not; nil where the line holds
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

// Line reads the line of entry i.
func (t *Track) Line(i int) (*tape.Line, error) {
	e := &t.Entries[i]
	b := make([]byte, e.length)
	if _, err := t.of.source.ReadAt(b, e.offset); err != nil && err != io.EOF {
		return nil, wire.NewFault(wire.IO, fmt.Sprintf("reading the tape %s: %v", t.of.Name, err), err)
	}
	line := &tape.Line{Number: int(e.Line)}
	return line, line.ParseLine(b)
}

// Gap returns how much later than the entry before it entry i was recorded; 0 where
// that cannot be said.
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

// Of returns the transcript that the track is part of.
func (t *Track) Of() *Transcript { return t.of }

// Empty returns a track of t with nothing on it.
func Empty(t *Transcript) *Track { return &Track{of: t} }
