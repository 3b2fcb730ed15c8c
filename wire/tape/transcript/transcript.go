// Package transcript indexes a tape: the kinds and the order of its messages, and which response belongs to which request. The index
// needs at most 150 bytes per message. The messages themselves remain in the file.
package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"time"

	"rpcx/wire"
	"rpcx/wire/scratch"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/userfile"
)

// A Transcript is a tape together with its index. It is safe for concurrent use.
type Transcript struct {
	Name   string // the file name, for messages to the user
	Header tape.Header
	Tracks []*Track // one for each connection, in the order of their first lines
	Cut    int      // the number of the last line if that is incomplete, or 0
	Rules  *match.Rules

	source  io.ReaderAt
	close   func() error
	methods []string
	number  map[string]uint32 // the index in methods, by method
}

// None is used as an index where there is no entry.
const None = -1

// A Track is one connection of a tape.
type Track struct {
	Conn   int
	Begin  Place       // the first line; if the tape shows how the connection was opened, it is that line
	End    Place       // the last line
	Close  *tape.Close // nil if the tape has no such line
	Closer wire.Direction
	// Events is the number of entries before the client requested an event stream over HTTP, or None. Deletes is set if the client ended
	// its session with DELETE.
	Events  int32
	Deletes bool

	of          *Transcript
	entries     []Entry
	refused     map[int32]int // the HTTP statuses of requests that were answered with an HTTP error
	heads       map[int32][][2]string
	optional    map[int32]bool
	repeats     int
	openers     map[int32]bool       // responses that opened streams
	handles     map[uint64]int32     // strings that the client sends, by their hash; the value is the first entry that contains the string
	streams     map[uint64]bool      // the streams that have items, by the hash of their JSON name
	binary      map[int32]bool       // binary WebSocket messages
	loose       map[uint32]bool      // see Loose
	handwritten map[int32]*tape.Line // lines that have handwritten members, by entry
}

// A Place is a line on a tape.
type Place struct {
	Line uint32
	At   time.Duration
}

// Rules returns the rules for comparing the messages of a dialect. If there is no such dialect, it returns a usage Fault. ""
// stands for the default dialect.
type Rules func(dialect string) (*match.Rules, error)

// keepWhole is the size, in bytes, up to which a tape is kept in memory.
const keepWhole = 16 << 20

// Open indexes the tape in the file name; "-" is stdin. The caller must close the Transcript.
func Open(name string, stdin io.Reader, rules Rules) (*Transcript, error) {
	if b := userfile.Kept(name); b != nil { // the file was kept when the header was read for the endpoint tape:
		return Read(bytes.NewReader(b), name, rules)
	}
	if name == "-" {
		return readAll(stdin, name, rules)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a directory")
	}
	if err != nil {
		_ = f.Close()
		return nil, unreadable(name, err)
	}
	if !info.Mode().IsRegular() || info.Size() <= keepWhole {
		defer func() { _ = f.Close() }()
		return readAll(f, name, rules)
	}
	return readFile(f, f.Close, name, rules)
}

// readAll reads a tape from a file that can be read only once. A long tape is stored in a temporary file.
func readAll(from io.Reader, name string, rules Rules) (*Transcript, error) {
	b, err := io.ReadAll(io.LimitReader(from, keepWhole+1))
	if err != nil && name == "-" {
		return nil, wire.NewFault(wire.IO, "reading a tape from stdin: "+err.Error(), err)
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	if len(b) <= keepWhole {
		return Read(bytes.NewReader(b), name, rules)
	}
	f, err := scratch.NewFile()
	if err == nil {
		_, err = io.Copy(f, io.MultiReader(bytes.NewReader(b), from))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, wire.NewFault(wire.IO, fmt.Sprintf("storing the tape %s in %s: %v", name, os.TempDir(), err), err)
	}
	return readFile(f, f.Close, name, rules)
}

func readFile(f source, closeFile func() error, name string, rules Rules) (*Transcript, error) {
	t, err := Read(f, name, rules)
	if err != nil {
		_ = closeFile()
		return nil, err
	}
	t.close = closeFile
	return t, nil
}

func unreadable(name string, err error) error {
	err = wire.WithoutPath(err)
	return wire.NewFault(wire.Usage, fmt.Sprintf("cannot read the tape %s: %v", name, err), err)
}

// A source is read once from the beginning, and later at any offset.
type source interface {
	io.Reader
	io.ReaderAt
}

// Read indexes the tape in from. The Transcript reads from it until it is closed.
func Read(from source, name string, rules Rules) (*Transcript, error) {
	r, err := tape.NewReader(from, name)
	if err != nil {
		return nil, err
	}
	own, err := rules(r.Header().Dialect)
	if err != nil {
		return nil, tape.Fault(name, 1, err)
	}
	t := &Transcript{Name: name, Header: r.Header(), Rules: own, source: from, methods: []string{""}, number: map[string]uint32{"": 0}}
	l := &loader{t: t, tracks: map[int]*loading{}, seed: maphash.MakeSeed()}
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

// Reader returns a Reader for the tape.
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

// Method returns the method of entry i. For a response, it is the method of the request; it is "" if there is none.
func (t *Track) Method(i int) string {
	e := t.Entry(int32(i))
	if e.Kind == wire.Response && e.Own != None {
		e = t.Entry(e.Own)
	}
	return t.of.methods[e.Method]
}

// Number returns the number that a method has in entries. It returns false if no message has this method.
func (t *Transcript) Number(method string) (uint32, bool) {
	n, ok := t.number[method]
	return n, ok
}

// HandwrittenLine returns the line of entry i if it has handwritten members. Otherwise it returns nil.
func (t *Track) HandwrittenLine(i int) *tape.Line { return t.handwritten[int32(i)] }

// Names returns the names to which lines bind values. A name occurs once for each line that binds it.
func (t *Track) Names() (names []string) {
	for _, line := range t.handwritten {
		for _, b := range line.Bind {
			names = append(names, b.Name)
		}
	}
	return names
}

// Message returns the message of entry i, which may be something other than JSON. It returns nil if the line has no
// message.
func (t *Track) Message(i int) ([]byte, error) {
	line, err := t.Line(i)
	if err != nil {
		return nil, err
	}
	e := t.Entry(int32(i))
	if e.elem == None {
		return line.Payload(), nil
	}
	parts, _ := match.Elements(t.of.Rules.Shape(), line.Msg)
	if int(e.elem) >= len(parts) {
		return nil, t.changed(e, errors.New("it has fewer messages"))
	}
	return parts[e.elem], nil
}

func (t *Track) Line(i int) (*tape.Line, error) {
	e := t.Entry(int32(i))
	b := make([]byte, e.length)
	if _, err := t.of.source.ReadAt(b, e.offset); err != nil && err != io.EOF {
		return nil, wire.NewFault(wire.IO, fmt.Sprintf("reading the tape %s: %v", t.of.Name, err), err)
	}
	line := &tape.Line{Number: int(e.Line)}
	if err := line.ParseLine(b); err != nil {
		return nil, t.changed(e, err)
	}
	return line, nil
}

// changed returns the Fault for a line that has changed since Open.
func (t *Track) changed(e *Entry, err error) error {
	return tape.Fault(t.of.Name, int(e.Line), fmt.Errorf("it changed while it was being read: %w", err))
}

// Gap returns the recorded time between the previous entry and entry i. Begin counts as the entry before the first one, and End as the
// entry after the last one.
func (t *Track) Gap(i int) time.Duration { return t.At(i) - t.At(i-1) }

// At returns the recorded time of entry i, with the same meaning of Begin and End.
func (t *Track) At(i int) time.Duration {
	switch {
	case i < 0:
		return t.Begin.At
	case i >= t.Len():
		return t.End.At
	}
	line, err := t.Line(i)
	if err != nil {
		return 0
	}
	return line.Time
}

// Of returns the transcript to which the track belongs.
func (t *Track) Of() *Transcript { return t.of }

// Empty returns a track of t that has no entries.
func Empty(t *Transcript) *Track { return newTrack(t, 0) }

func newTrack(t *Transcript, conn int) *Track {
	return &Track{Conn: conn, of: t, Events: None, heads: map[int32][][2]string{}, optional: map[int32]bool{}, refused: map[int32]int{}, binary: map[int32]bool{}, loose: map[uint32]bool{}, openers: map[int32]bool{}, handles: map[uint64]int32{}, streams: map[uint64]bool{}, handwritten: map[int32]*tape.Line{}}
}
