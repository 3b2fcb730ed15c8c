package tape

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// Options configure a Writer. The zero value is usable.
type Options struct {
	// Redact appends msg to dst with a placeholder for every secret. It returns dst and a description of the appended text. The Writer
	// calls it for each message before writing, and never concurrently. Redact must not retain the slices. If Redact is nil, there are
	// no secrets.
	Redact func(dst, msg []byte) (out []byte, is Text)
	// The Writer calls Failed once if writing fails, with the reason, and then stops recording. Failed must not block. It may be nil.
	Failed func(err error)
	// Now returns the current time. The default is time.Now.
	Now     func() time.Time
	Follows *Tape // the existing tape that the Writer continues, without another header; nil for a new tape
}

// A Tape describes an existing tape.
type Tape struct {
	Started time.Time // when Line.Time was 0
	Size    int64     // in bytes
}

// A Text describes the form of a message.
type Text uint8

// These are the forms of messages.
const (
	Unknown Text = iota // not JSON
	JSON
	Printable // JSON in ASCII without control characters
)

const (
	flushBytes = 512 << 10            // the Writer writes when it has buffered this many bytes
	flushDelay = 5 * time.Millisecond // the maximum time between recording and writing
	keepBytes  = 1 << 20              // the largest buffer that the Writer reuses
)

// A Writer records a conversation. It writes whole lines, each at most 5 ms after its recording, and combines lines that arrive fast.
// After a crash, a tape contains only whole lines. Its methods are safe for concurrent use and do not allocate for a message.
type Writer struct {
	mu      sync.Mutex
	w       io.Writer
	o       Options
	start   time.Time
	buf     []byte        // whole lines to write
	frames  [2]frame      // the last message line of each direction
	at      time.Duration // the time of the last line, because times never decrease
	scratch []byte        // a redacted message
	flushed time.Duration
	timer   *time.Timer // flushes buffered lines; nil before its first use
	armed   bool        // timer is running
	size    int64       // the size of all written lines, in bytes
	err     error       // why writing stopped, or nil
}

// A frame is the line of a message without the time and the message. It also stores the text before the last message that used it.
type frame struct {
	conn      int
	line      []byte
	time, msg int // their positions in line
	head      []byte
	at        time.Duration // the time in head, or negative without head
}

// before returns the text that precedes a message of that time.
func (f *frame) before(at time.Duration) []byte {
	if f.at != at {
		f.at = at
		f.head = appendSeconds(append(f.head[:0], f.line[:f.time]...), at)
		f.head = append(f.head, f.line[f.time:f.msg]...)
	}
	return f.head
}

// NewWriter writes the header and returns a Writer, or the error of the write. It sets Started to the current time if the header has
// none.
func NewWriter(w io.Writer, h Header, o Options) (*Writer, error) {
	now := time.Now()
	if o.Now != nil {
		now = o.Now()
	}
	if h.Started.IsZero() {
		h.Started = now
	}
	t := &Writer{w: w, o: o, start: now}
	if was := o.Follows; was != nil {
		t.start, t.size = was.Started, was.Size
		return t, nil
	}
	t.buf = h.Append(nil)
	t.o.Failed = nil // NewWriter returns the first failure instead
	t.flush()
	t.o.Failed = o.Failed
	if t.err != nil {
		return nil, t.err
	}
	return t, nil
}

// Record records messages of connection conn (0 if there is only one) that arrived together. It does not retain them.
func (t *Writer) Record(conn int, d wire.Direction, msg []byte, more ...[]byte) {
	t.RecordAt(t.Elapsed(), conn, d, msg, more...)
}

// RecordAt is like Record, but for messages that arrived at a time from Elapsed. One clock reading suffices for messages that arrived
// together.
func (t *Writer) RecordAt(at time.Duration, conn int, d wire.Direction, msg []byte, more ...[]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	t.at = max(at, t.at)
	f := t.frame(conn, d)
	t.message(f, d, msg)
	for _, msg := range more {
		if len(t.buf) >= flushBytes {
			t.added(t.at)
		}
		t.message(f, d, msg)
	}
	t.added(t.at)
}

// message adds a message's line to buf.
func (t *Writer) message(f *frame, d wire.Direction, msg []byte) {
	is := Unknown
	line := append(t.buf, f.before(t.at)...)
	start := len(line)
	if t.o.Redact != nil {
		line, is = t.o.Redact(line, msg)
	} else if line = append(line, msg...); scan.Valid(msg, wire.DefaultMaxDepth) == nil {
		is = JSON
	}
	if written := line[start:]; is != Unknown && onOneLine(written, is == Printable) {
		t.buf = append(line, f.line[f.msg:]...)
	} else {
		t.scratch = append(t.scratch[:0], written...)
		t.buf = t.odd(line[:len(t.buf)], Line{Time: t.at, Conn: f.conn, Dir: d})
	}
}

// frame returns the frame for messages of conn.
func (t *Writer) frame(conn int, d wire.Direction) *frame {
	f := &t.frames[d]
	if f.line != nil && f.conn == conn {
		return f
	}
	f.conn, f.at = conn, -1
	o := scan.AppendObject(f.line[:0])
	here := func(at *int) func(b []byte) ([]byte, error) {
		return func(b []byte) ([]byte, error) {
			*at = len(b)
			return b, nil
		}
	}
	_ = o.Append("t", here(&f.time))
	if conn != 0 {
		o.Int("conn", int64(conn))
	}
	o.Text("dir", d.String())
	_ = o.Append("msg", here(&f.msg))
	f.line = append(o.End(), '\n')
	return f
}

// onOneLine reports whether a line may contain the JSON text b unchanged. printable reports whether b is ASCII without control
// characters.
func onOneLine(b []byte, printable bool) bool {
	if b[0] <= ' ' || b[len(b)-1] <= ' ' {
		return false
	}
	return printable || scan.IsASCII(b) || bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 && utf8.Valid(b)
}

// odd appends the line of the message in scratch, which is not JSON on one line.
func (t *Writer) odd(b []byte, line Line) []byte {
	line.SetPayload(t.scratch)
	if cap(t.scratch) > keepBytes {
		t.scratch = nil
	}
	return line.Append(b)
}

// Add records a line other than a message: an opening, a close, an HTTP exchange or a note. It sets the line's time. The caller must
// redact secrets.
func (t *Writer) Add(l Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		l.Time = max(t.Elapsed(), t.at)
		t.at = l.Time
		t.buf = append(t.buf, redact.KnownBytes(l.Append(nil))...)
		t.added(l.Time)
	}
}

// Elapsed returns the time since the start of the tape.
func (t *Writer) Elapsed() time.Duration {
	if t.o.Now == nil {
		return time.Since(t.start)
	}
	return t.o.Now().Sub(t.start)
}

// added flushes the buffer after an added line, or starts the timer that does.
func (t *Writer) added(now time.Duration) {
	switch {
	case len(t.buf) >= flushBytes, now-t.flushed >= flushDelay:
		t.flushed = now
		t.flush()
	case !t.armed:
		t.armed = true
		if t.timer == nil {
			t.timer = time.AfterFunc(flushDelay, t.late)
		} else {
			t.timer.Reset(flushDelay)
		}
	}
}

// late flushes when the timer expires.
func (t *Writer) late() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.armed = false
	t.flushed = t.Elapsed()
	t.flush()
}

type truncater interface{ Truncate(size int64) error }

func (t *Writer) flush() {
	if t.err != nil || len(t.buf) == 0 {
		return
	}
	n, err := t.w.Write(t.buf)
	t.size += int64(bytes.LastIndexByte(t.buf[:n], '\n') + 1)
	if t.buf = t.buf[:0]; cap(t.buf) > keepBytes {
		t.buf = nil
	}
	if err == nil {
		return
	}
	if f, ok := t.w.(truncater); ok && n > 0 { // the write may have been partial
		_ = f.Truncate(t.size)
	}
	t.err = wire.NewFault(wire.Helper, "the tape cannot be written: "+err.Error(), err)
	if t.o.Failed != nil {
		t.o.Failed(t.err)
	}
}

// Close flushes the buffer. It returns why the tape is incomplete, or nil. It does not close the file.
func (t *Writer) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.flush()
	err := t.err
	if t.err == nil {
		t.err = os.ErrClosed
	}
	return err
}
