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
	o = o.WithDefaults()
	in := newInput(rwc, o)
	src := &lineSource{in: in, sentinel: o.Sentinel, messageFilter: messageFilter{noise: newNoise(o, in), max: o.MaxMessage, scalars: o.Strict}}
	return newConn(rwc, in, src, wrap{prepare: oneLine, tail: "\n", blanks: true})
}

type lineSource struct {
	messageFilter
	in       *input
	sentinel bool // the message begins after the last 0xFF of its line
	begun    bool
}

func (s *lineSource) next() ([]byte, error) {
	if !s.begun {
		s.begun = true
		s.in.skipMark()
	}
	seen := 0
	for {
		win := s.in.window()
		end := bytes.IndexByte(win[seen:], '\n')
		if end >= 0 {
			win = win[:seen+end]
		}
		if len(win) > s.max+1 { // one more byte for a CR
			return nil, wire.TooLong(s.max)
		}
		if end >= 0 {
			s.in.drop(len(win) + 1)
			seen = 0
			if s.sentinel {
				win = win[bytes.LastIndexByte(win, 0xFF)+1:]
			}
			if msg, err := s.message(win); msg != nil || err != nil {
				return msg, err
			}
			continue
		}
		seen = len(win)
		if err := s.in.more(); err != nil {
			win = s.in.window()
			s.in.drop(len(win))
			return s.last(win, err)
		}
	}
}

// buffered implements bufferedSource.
func (s *lineSource) buffered() ([]byte, bool) {
	win := s.in.window()
	end := bytes.IndexByte(win, '\n')
	if end < 0 || end > s.max || s.sentinel {
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
