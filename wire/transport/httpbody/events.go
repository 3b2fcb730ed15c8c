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

// An eventStream reads server-sent events as the HTML standard defines them. A line ends with CR, LF or CRLF, and an
// empty line ends an event. The data lines of an event are joined with LF. Comments, unknown fields, and events without
// data are skipped.
type eventStream struct {
	at     *Position // may be nil
	id     *string   // the id of the current event, or nil
	kind   string
	in     *bufio.Reader
	max    int
	line   []byte
	data   []byte
	some   bool // whether the event has a data line
	skipLF bool // the last line ended with CR, so an LF that follows is skipped
}

// A Position is the place at which an event stream can be resumed.
type Position struct {
	ID    string        // the id of the last complete event, or ""
	Event string        // the type of the last event, or ""
	Retry time.Duration // how long the client should wait before it resumes, or 0
}

// Events calls recv with the data of each event until r ends. The data is valid only during the call. If r ends in the
// middle of an event, the standard requires that the event is dropped. Because some servers omit the last empty line,
// Events accepts such an event if its data is a complete JSON value. If the data is longer than max, Events returns a
// Protocol Fault. It keeps at, which may be nil, up to date for resuming the stream.
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

// reset prepares for the next event and releases a large buffer.
func (s *eventStream) reset() {
	s.data, s.some, s.id, s.kind = s.data[:0], false, nil, ""
	if cap(s.data) > 1<<20 {
		s.data = nil
	}
	if cap(s.line) > 1<<20 {
		s.line = nil
	}
}

// readLine reads the next line into s.line. If the input ends (io.EOF) or fails in the middle of the line, whole is false.
// readLine never waits for the byte that follows a CR.
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

// lineBreak returns the index of the first CR or LF in b, or -1. (bytes.IndexAny would be much slower.)
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

// maxEventID is the maximum length of an event id in bytes. rpcx sends the id back in a header.
const maxEventID = 1 << 10

// longestRetry is the longest pause before resuming that a server can request.
const longestRetry = time.Minute

// field processes one line. The line contains data, or the position or the pause for resuming.
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

// AppendEvent appends msg as one event. At a line break between two tokens, it starts a new data line. JSON cannot
// contain other line breaks.
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
