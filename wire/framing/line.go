package framing

import (
	"bytes"
	"io"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Line returns the framing with one message on each line. Lines end with LF or CRLF, but the last line of the input may
// have no line break. Line skips blank lines. If a message has line breaks between its tokens, Line removes them when
// it sends the message.
func Line(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	src := &lineSource{sentinel: o.Sentinel, messageFilter: messageFilter{noise: newNoise(rwc, o), scalars: o.Strict}}
	return newConn(rwc, src.in, src, wrap{prepare: oneLine, tail: "\n", blanks: true})
}

type lineSource struct {
	messageFilter
	sentinel bool // the message begins after the last 0xFF of its line
}

func (s *lineSource) next() ([]byte, error) {
	for {
		line, err := s.in.until(0, s.in.max+1, lineEnd) // one more byte for a CR
		switch {
		case line == nil:
			return nil, err
		case err != nil:
			return s.last(line, err)
		}
		s.in.drop(1)
		if s.sentinel {
			line = line[bytes.LastIndexByte(line, 0xFF)+1:]
		}
		if msg, err := s.message(line); msg != nil || err != nil {
			return msg, err
		}
	}
}

// buffered implements bufferedSource.
func (s *lineSource) buffered() ([]byte, bool) {
	win := s.in.window()
	end := bytes.IndexByte(win, '\n')
	if end < 0 || end > s.in.max || s.sentinel {
		return nil, false
	}
	msg := scan.Trim(win[:end])
	if !opens(msg) || s.tolerated() && !plausible(msg) {
		return nil, false
	}
	s.in.drop(end + 1)
	return msg, true
}

// oneLine returns msg without line breaks.
func oneLine(msg []byte) ([]byte, error) {
	if bytes.IndexByte(msg, '\n') < 0 {
		return msg, nil
	}
	msg = scan.Compact(make([]byte, 0, len(msg)), msg)
	if bytes.IndexByte(msg, '\n') >= 0 {
		return nil, wire.NewFault(wire.Usage, "a message that is not JSON and contains line breaks cannot be sent as a line", nil)
	}
	return msg, nil
}
