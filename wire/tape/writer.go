package tape

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// Options configures a Writer. The zero value can be used.
type Options struct {
	// Redact appends msg to dst, with a placeholder for every secret. It returns dst, and the form of the appended text. It is called
	// with each message before that is written, and never concurrently. It must not keep the slices. If it is nil, nothing is
	// redacted.
	Redact func(dst, msg []byte) (out []byte, is Text)
	// Failed is called once, with the reason, if writing fails. Recording then stops. Failed must not block. It may be nil.
	Failed func(err error)
	// Size is the length, in bytes, of an existing tape that is continued without another header, and Started its time 0. Size is 0 for
	// a new tape.
	Size    int64
	Started time.Time
}

// A Text is the form of a message.
type Text uint8

// A message has one of these forms.
const (
	Unknown Text = iota // not JSON
	JSON
	Printable // JSON in ASCII without control characters
)

const (
	flushBytes = 512 << 10            // when the buffer has this many bytes, it is written
	flushDelay = 5 * time.Millisecond // the maximum time between recording a line and writing it
	keepBytes  = 1 << 20              // the size of the largest buffer that is reused
)

// A Writer records a conversation. It writes whole lines, each at most 5 ms after it was recorded, and combines lines that follow
// each other quickly. Even after a crash, a tape consists of whole lines. The methods are safe for concurrent use, and do not
// allocate for a message.
type Writer struct {
	mu      sync.Mutex
	w       io.Writer
	o       Options
	start   time.Time
	buf     []byte        // whole lines that are to be written
	frames  [2]frame      // for each direction, what preceded its last message
	at      time.Duration // the time of the last line; times never decrease
	scratch []byte        // the last message after it was redacted
	flushed time.Duration
	timer   *time.Timer // flushes the buffer; nil until it is needed
	armed   bool        // timer is running
	size    int64       // the total size of the lines that were written, in bytes
	err     error       // why writing stopped, or nil
}

// A frame is the line of a message before the message itself.
type frame struct {
	conn int
	at   time.Duration
	head []byte // nil before the first message
}

// before returns the text that precedes a message of conn in direction d, recorded at the time at.
func (f *frame) before(at time.Duration, conn int, d wire.Direction) []byte {
	if f.head != nil && f.at == at && f.conn == conn {
		return f.head
	}
	f.at, f.conn = at, conn
	o := scan.AppendObject(f.head[:0])
	_ = o.Append("t", func(b []byte) ([]byte, error) { return appendSeconds(b, at), nil })
	if conn != 0 {
		o.Int("conn", int64(conn))
	}
	o.Text("dir", d.String())
	_ = o.Append("msg", func(b []byte) ([]byte, error) { return b, nil })
	f.head = bytes.TrimSuffix(o.End(), []byte("}"))
	return f.head
}

// NewWriter writes the header and returns a Writer. If the write fails, it returns the error. If the header has no Started,
// NewWriter sets it to the current time.
func NewWriter(w io.Writer, h Header, o Options) (*Writer, error) {
	now := time.Now()
	if h.Started.IsZero() {
		h.Started = now
	}
	t := &Writer{w: w, o: o, start: now}
	if o.Size > 0 {
		t.start, t.size = o.Started, o.Size
		return t, nil
	}
	t.buf = h.Append(nil)
	t.o.Failed = nil // NewWriter returns the first failure itself
	t.flush()
	t.o.Failed = o.Failed
	if t.err != nil {
		return nil, t.err
	}
	return t, nil
}

// Record records messages that arrived together on connection conn (0 if there is only one), at a time that Elapsed has returned. It
// does not keep them.
func (t *Writer) Record(at time.Duration, conn int, d wire.Direction, msg []byte, more ...[]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	t.at = max(at, t.at)
	t.message(conn, d, msg)
	for _, msg := range more {
		if len(t.buf) >= flushBytes {
			t.added(t.at)
		}
		t.message(conn, d, msg)
	}
	t.added(t.at)
}

// message adds the line for a message to buf.
func (t *Writer) message(conn int, d wire.Direction, msg []byte) {
	is := Unknown
	line := append(t.buf, t.frames[d].before(t.at, conn, d)...)
	start := len(line)
	if t.o.Redact != nil {
		line, is = t.o.Redact(line, msg)
	} else if line = append(line, msg...); scan.Valid(msg, wire.DefaultMaxDepth) == nil {
		is = JSON
	}
	if written := line[start:]; is != Unknown && onOneLine(written, is == Printable) {
		t.buf = append(line, "}\n"...)
	} else {
		t.scratch = append(t.scratch[:0], written...)
		t.buf = t.appendOther(line[:len(t.buf)], Line{Time: t.at, Conn: conn, Dir: d})
	}
}

// onOneLine reports whether the JSON text b can be part of a line without changes. printable is set if b is ASCII without
// control characters.
func onOneLine(b []byte, printable bool) bool {
	if b[0] <= ' ' || b[len(b)-1] <= ' ' {
		return false
	}
	return printable || scan.IsASCII(b) || bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 && utf8.Valid(b)
}

// appendOther appends the line for the message in scratch, which is not JSON on one line.
func (t *Writer) appendOther(b []byte, line Line) []byte {
	line.SetPayload(t.scratch)
	if cap(t.scratch) > keepBytes {
		t.scratch = nil
	}
	return line.Append(b)
}

// Add records a line that is not a message: the start or the end of a connection, an HTTP exchange, or a note. It sets the time of
// the line. The caller must have redacted secrets.
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

// Elapsed returns the time since the tape was started.
func (t *Writer) Elapsed() time.Duration { return time.Since(t.start) }

// added must be called after a line was added to the buffer. It flushes the buffer, or starts the timer for that.
func (t *Writer) added(now time.Duration) {
	switch {
	case len(t.buf) >= flushBytes, now-t.flushed >= flushDelay:
		t.flushed = now
		t.flush()
	case !t.armed:
		t.armed = true
		if t.timer == nil {
			t.timer = time.AfterFunc(flushDelay, t.flushDelayed)
		} else {
			t.timer.Reset(flushDelay)
		}
	}
}

// flushDelayed flushes the buffer when the timer has expired.
func (t *Writer) flushDelayed() {
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
	if f, ok := t.w.(truncater); ok && n > 0 { // the write may have written only a part
		_ = f.Truncate(t.size)
	}
	t.err = wire.NewFault(wire.Helper, "the tape cannot be written: "+err.Error(), err)
	if t.o.Failed != nil {
		t.o.Failed(t.err)
	}
}

// Close flushes the buffer. If the tape is incomplete, it returns the reason. It does not close the file.
func (t *Writer) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.flush()
	err := t.err
	t.err = cmp.Or(t.err, os.ErrClosed)
	return err
}
