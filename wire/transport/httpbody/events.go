package httpbody

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"time"

	"rpcx/wire"
)

// An eventStream reads server-sent events as the HTML standard defines them. Lines end with CR, LF or CRLF, and an
// empty line ends an event. LF joins several data lines. Comments, unknown fields, and events without data are skipped.
type eventStream struct {
	at     *Position // may be nil
	id     *string   // the id of the current event, or nil
	kind   string
	in     *bufio.Reader
	max    int
	line   []byte
	data   []byte
	some   bool // a data line has arrived
	skipLF bool // the last line ended with CR; skip a following LF
}

// A Position is the place for resuming an event stream.
type Position struct {
	ID    string        // the id of the last complete event, or ""
	Event string        // the kind of the last event, or ""
	Retry time.Duration // the server's pause before resuming, or 0
}

// Events calls recv with the data of each event until r ends. The data is valid during the call. If the end of r cuts
// off an event, Events drops it, as the standard requires, unless its data is a whole JSON value, because some servers
// omit the last empty line. Data longer than max is a Protocol Fault. Events updates at, which may be nil, for resuming
// the stream.
func Events(r io.Reader, max int, at *Position, recv func([]byte)) error {
	s := &eventStream{in: bufio.NewReaderSize(r, 64<<10), max: max, at: at}
	if b, _ := s.in.Peek(3); bytes.Equal(b, []byte("\xEF\xBB\xBF")) {
		s.in.Discard(3)
	}
	for {
		whole, err := s.readLine()
		if err != nil && err != io.EOF {
			return err
		}
		if !whole {
			if f := s.field(); f != nil {
				return f
			}
			if s.some && json.Valid(s.data) {
				s.end(recv)
			}
			return nil
		}
		if len(s.line) > 0 {
			if f := s.field(); f != nil {
				return f
			}
			continue
		}
		s.end(recv)
		s.reset()
	}
}

func (s *eventStream) end(recv func([]byte)) {
	if s.id != nil {
		s.at.ID = *s.id
	}
	if s.at != nil {
		s.at.Event = s.kind
	}
	if len(s.data) > 0 {
		recv(s.data)
	}
}

// reset clears the event and releases a large buffer.
func (s *eventStream) reset() {
	s.data, s.some, s.id, s.kind = s.data[:0], false, nil, ""
	if cap(s.data) > 1<<20 {
		s.data = nil
	}
	if cap(s.line) > 1<<20 {
		s.line = nil
	}
}

// readLine reads the next line into s.line. The line is incomplete if the input ended (io.EOF) or failed inside it. readLine
// never waits for the byte after a CR.
func (s *eventStream) readLine() (whole bool, err error) {
	s.line = s.line[:0]
	for {
		if _, err := s.in.Peek(1); err != nil {
			return false, err
		}
		b, _ := s.in.Peek(s.in.Buffered())
		if s.skipLF {
			s.skipLF = false
			if b[0] == '\n' {
				s.in.Discard(1)
				continue
			}
		}
		i := lineBreak(b)
		whole = i >= 0
		if whole {
			s.skipLF = b[i] == '\r'
			s.in.Discard(i + 1)
			b = b[:i]
		} else {
			s.in.Discard(len(b))
		}
		s.line = append(s.line, b...)
		if len(s.line) > s.max+len("data: ") {
			return false, wire.TooLong(s.max)
		}
		if whole {
			return true, nil
		}
	}
}

// lineBreak returns the index of the first CR or LF in b, or -1. (bytes.IndexAny is much slower.)
func lineBreak(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// maxEventID bounds the bytes of an event's id, which rpcx sends back as a header.
const maxEventID = 1 << 10

// longestRetry bounds the pause before resuming that a server can demand.
const longestRetry = time.Minute

// field processes a line: data, or the position and the pause for resuming.
func (s *eventStream) field() error {
	name, value, _ := bytes.Cut(s.line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch short := s.at != nil && len(value) < maxEventID; {
	case string(name) == "data":
		if s.some {
			s.data = append(s.data, '\n')
		}
		s.some = true
		if s.data = append(s.data, value...); len(s.data) > s.max {
			return wire.TooLong(s.max)
		}
	case short && string(name) == "id" && bytes.IndexByte(value, 0) < 0:
		text := string(value)
		s.id = &text
	case short && string(name) == "event":
		s.kind = string(value)
	case short && string(name) == "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			s.at.Retry = min(time.Duration(ms)*time.Millisecond, longestRetry)
		}
	}
	return nil
}

// AppendEvent appends msg as one event. A line break between tokens starts a new data line. JSON has no other line
// breaks.
func AppendEvent(b, msg []byte) []byte {
	b = append(b, "data: "...)
	for {
		i := lineBreak(msg)
		if i < 0 {
			b = append(b, msg...)
			return append(b, "\n\n"...)
		}
		b = append(b, msg[:i]...)
		b = append(b, "\ndata: "...)
		if bytes.HasPrefix(msg[i:], []byte("\r\n")) {
			i++
		}
		msg = msg[i+1:]
	}
}
