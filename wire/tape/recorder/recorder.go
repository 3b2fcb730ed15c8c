// Package recorder records live conversations on tapes. It creates the files, numbers the connections and redacts
// secrets.
package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
)

// Options configures a recording.
type Options struct {
	File   string      // the file name of the tape, or ""
	Exists Existing    // what to do if the file exists
	Also   io.Writer   // also receives the tape, in writes of whole lines; may be nil
	Split  bool        // each connection is recorded on a tape of its own: FILE-1.tape, FILE-2.tape, … for FILE.tape
	Many   bool        // there can be several connections, and each line contains the number of its connection
	Header tape.Header // the header of each tape
	Redact []*jq.Paths // selects secrets in addition to members that have secret names
	Plain  bool        // only credentials in headers are redacted
	// Endpoint returns the form in which an endpoint appears on the tape. Dialect files are reduced to their names. If
	// it is nil, endpoints are not changed.
	Endpoint func(endpoint string) string
	// Failed is called once, with the reason, if recording has to stop because the disk is full or a program in Redact has failed.
	// Failed must not block. It may be nil.
	Failed func(err error)
	// Warn prints a warning to the user. It may be nil.
	Warn func(text string)
}

// generic contains the dialects in which the names of members have no fixed meaning.
var generic = map[string]bool{"": true, "jsonrpc": true, "jsonrpc1": true}

// Existing determines what happens if the tape exists and has messages.
type Existing uint8

// A tape that exists is refused, replaced or continued.
const (
	Refuse  Existing = iota // fail with a Fault of kind Conflict
	Replace                 // truncate the file
	Append                  // continue the tape; new connections get the numbers after the existing ones
)

// A Recorder records any number of connections.
type Recorder struct {
	o      Options
	mu     sync.Mutex
	files  []io.WriteCloser
	tapes  []*tape.Writer
	conns  int
	marks  int // the highest number of a secret on the tape that is continued
	failed error
}

// Open creates the tape. If that fails, it returns a Fault of kind Helper that contains the file name, and a Recorder
// that records nothing.
func Open(o Options) (*Recorder, error) {
	r := &Recorder{o: o}
	if o.Split {
		return r, r.unsplit()
	}
	_, err := r.create(o.File)
	return r, err
}

// unfiled is the output of a Recorder that has no file.
type unfiled struct{ io.Writer }

func (unfiled) Close() error { return nil }

func (r *Recorder) create(name string) (*tape.Writer, error) {
	var to io.WriteCloser = unfiled{r.o.Also}
	options := tape.Options{Failed: r.fail}
	if name != "" {
		f, size, err := open(name, r.o.Exists)
		if err == nil && size > 0 {
			err = r.follow(f, name, &options)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		to = f
	}
	out := io.Writer(to)
	if name != "" && r.o.Also != nil {
		out = io.MultiWriter(to, r.o.Also)
	}
	if !r.o.Plain {
		options.Redact = newRedactor(r.o.Redact, r.o.Warn, &redact.Numbering{Sessions: !generic[r.o.Header.Dialect], Last: r.marks}).append
	}
	w, err := tape.NewWriter(out, r.o.Header, options)
	if err != nil {
		_ = to.Close()
		return nil, unwritable(name, err)
	}
	if r.o.Plain {
		w.Add(tape.Line{Kind: tape.Note, Note: "recorded with --no-redact: this tape may contain secrets"})
	}
	r.files, r.tapes = append(r.files, to), append(r.tapes, w)
	return w, nil
}

func unwritable(name string, err error) error {
	err = wire.WithoutPath(err)
	return wire.NewFault(wire.Helper, fmt.Sprintf("the tape %s cannot be written: %v", name, err), err)
}

// fail records the first failure of a tape and reports it. The caller holds the tape's lock.
func (r *Recorder) fail(err error) {
	r.mu.Lock()
	first := r.failed == nil
	r.failed = errors.Join(r.failed, err)
	r.mu.Unlock()
	if first && r.o.Failed != nil {
		r.o.Failed(err)
	}
}

// Conn starts recording a connection. server is set if the local side is the server, which receives the client's messages.
func (r *Recorder) Conn(open tape.Open, server bool) *Conn {
	c := &Conn{server: server, plain: r.o.Plain}
	var err error
	r.mu.Lock()
	r.conns++
	if number := r.conns; r.o.Split {
		c.w, err = r.create(splitName(r.o.File, number))
	} else if len(r.tapes) > 0 {
		c.w = r.tapes[0]
		if r.o.Many || number > 1 {
			c.number = number
		}
	}
	r.mu.Unlock()
	if err != nil {
		r.fail(err)
	}
	if c.w == nil {
		return c
	}
	if r.o.Endpoint != nil {
		open.Endpoint = r.o.Endpoint(open.Endpoint)
	}
	open.Subprotocol = plain(open.Subprotocol)
	c.w.Add(tape.Line{Kind: tape.Opening, Conn: c.number, Open: &open})
	return c
}

// Note records a note that concerns the whole conversation.
func (r *Recorder) Note(text string) {
	for _, w := range r.tapes {
		w.Add(tape.Line{Kind: tape.Note, Note: text})
	}
}

// Close flushes and closes the files. Nothing can be recorded afterwards. If a tape is incomplete, it returns the
// reason.
func (r *Recorder) Close() error {
	r.mu.Lock()
	tapes, files := r.tapes, r.files
	r.tapes, r.files = nil, nil
	r.mu.Unlock()
	for i, w := range tapes {
		_ = w.Close()
		if err := files[i].Close(); err != nil {
			r.fail(wire.NewFault(wire.Helper, "the tape cannot be written: "+err.Error(), err))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// A Conn records one connection. Its methods are safe for concurrent use.
type Conn struct {
	w      *tape.Writer // nil if nothing is recorded
	number int
	server bool
	plain  bool // pieces are recorded without redaction
	once   sync.Once
	Show   wire.Tap // also receives each message that is recorded; may be nil

	broken  atomic.Bool // there are pieces, because the framing of a direction is broken
	mu      sync.Mutex  // guards the following fields
	pending [2]pending
	over    bool // pieces are recorded immediately
}

// Message records a message. It implements wire.Tap.
func (c *Conn) Message(d wire.Direction, msg []byte) { c.MessageAt(c.Elapsed(), d, msg) }

// Messages records several messages that arrived together. It implements wire.Record.
func (c *Conn) Messages(d wire.Direction, msg []byte, more ...[]byte) {
	c.MessageAt(c.Elapsed(), d, msg, more...)
}

// MessageAt is like Messages, but for messages that arrived at the time at, in terms of Elapsed.
func (c *Conn) MessageAt(at time.Duration, d wire.Direction, msg []byte, more ...[]byte) {
	c.flush()
	c.messages(at, d, msg, more...)
}

func (c *Conn) messages(at time.Duration, d wire.Direction, msg []byte, more ...[]byte) {
	if c.w != nil {
		c.w.Record(at, c.number, c.seen(d), msg, more...)
	}
	c.show(d, msg)
	for _, msg := range more {
		c.show(d, msg)
	}
}

// Frame records a WebSocket message. binary is set if it is a binary message.
func (c *Conn) Frame(d wire.Direction, msg []byte, binary bool) {
	if !binary {
		c.Message(d, msg)
		return
	}
	if c.w != nil {
		c.w.RecordBinary(c.Elapsed(), c.number, c.seen(d), msg)
	}
	c.show(d, msg)
}

func (c *Conn) show(d wire.Direction, msg []byte) {
	if c.Show != nil {
		c.Show(d, msg)
	}
}

// seen returns direction d as the client sees it.
func (c *Conn) seen(d wire.Direction) wire.Direction {
	if c.server {
		return 1 - d
	}
	return d
}

// Note records a note that concerns the connection.
func (c *Conn) Note(text string) {
	c.flush()
	if c.w != nil {
		c.w.Add(tape.Line{Kind: tape.Note, Conn: c.number, Note: text})
	}
}

// Noise returns a function that records a line of a child that is not a message, and then calls next. On the tape, such lines
// are notes, which are not played. next may be nil.
func (c *Conn) Noise(next func(line []byte)) func(line []byte) {
	return func(line []byte) {
		c.Note(tape.NoiseNote + strings.ToValidUTF8(plain(string(line)), "\ufffd"))
		if next != nil {
			next(line)
		}
	}
}

// Elapsed returns the time since the start of the tape.
func (c *Conn) Elapsed() time.Duration {
	if c.w == nil {
		return 0
	}
	return c.w.Elapsed()
}

func (c *Conn) HTTP(h tape.HTTP) {
	if c.w != nil {
		c.w.Add(tape.Line{Kind: tape.Exchange, Conn: c.number, HTTP: &h})
	}
}

// Ended records the end of the connection. Only the first call has an effect. d is the side that has ended it: Send is
// the local side. err is nil, io.EOF or a *wire.CloseError for a regular end, and otherwise another error. If err is a
// *wire.UnexpectedLine, its line is recorded as a message.
func (c *Conn) Ended(d wire.Direction, err error) {
	c.once.Do(func() {
		c.end()
		if unexpected, ok := errors.AsType[*wire.UnexpectedLine](err); ok && d == wire.Recv {
			c.Message(d, bytes.ToValidUTF8(unexpected.Line, []byte("\ufffd")))
		}
		if c.w != nil {
			c.w.Add(tape.Line{Kind: tape.Closing, Conn: c.number, Dir: c.seen(d), Close: closeOf(err)})
		}
	})
}
