package framing

import (
	"bytes"
	"io"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Concat returns the framing of consecutive values: a line can contain several, and a value can span several lines. It
// writes each message on one line. A listener (wire.Options.Strict) also receives lines with a scalar value. Other garbage
// is noise up to the end of its line. If noise is an error, Concat returns the valid start of a broken value as a message,
// which the dialect rejects, and skips the rest. A value that is cut off by the end of the input is a Protocol fault. A
// value that is nested too deeply is a message, because its end can be found.
func Concat(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	src := &concatSource{noise: newNoise(rwc, o), sentinel: o.Sentinel, scalars: o.Strict && !o.Sentinel}
	return newConn(rwc, src.in, src, wrap{prepare: oneLine, tail: "\n"})
}

type concatSource struct {
	noise
	finder
	sentinel bool     // wire.Options.Sentinel
	scalars  bool     // a line with a scalar value is a message, which the dialect rejects
	skipper  *skipper // skips the rest of a broken value; nil after a valid value
}

// sentinelByte is the byte of wire.Options.Sentinel.
const sentinelByte = 0xFF

// marked reports whether the window contains that byte, and drops the bytes through it.
func (s *concatSource) marked() bool {
	if !s.sentinel {
		return false
	}
	at := bytes.IndexByte(s.in.window(), sentinelByte)
	s.in.drop(at + 1)
	return at >= 0
}

func (s *concatSource) next() ([]byte, error) {
	for {
		if s.skipper != nil {
			n, over := s.skipper.skip(s.in.window())
			if s.in.drop(n); over {
				s.skipper = nil
			}
		}
		s.in.drop(scan.Skip(s.in.window(), 0))
		win := s.in.window()
		switch {
		case len(win) == 0:
			if err := s.in.more(); err != nil {
				return nil, err
			}
		case !opens(win):
			if msg, err := s.scalar(); msg != nil || err != nil {
				return msg, err
			}
		default:
			if msg, err := s.value(); msg != nil || err != nil {
				return msg, err
			}
		}
	}
}

// scalar returns the line at the start of the window if it is a scalar value that is a message, or nil after garbage.
func (s *concatSource) scalar() ([]byte, error) {
	switch {
	case s.marked():
		return nil, nil
	case !s.scalars:
		return nil, s.garbage(0)
	}
	line, err := s.in.until(0, s.in.max, lineEnd)
	switch {
	case line == nil:
		return nil, err
	case scan.Valid(line, 0) == nil: // after an error, the next read returns it again
		return scan.Trim(line), nil
	}
	return nil, s.line(line)
}

// value returns the value at the start of the window, or nil after garbage.
func (s *concatSource) value() ([]byte, error) {
	for {
		win := s.in.window()
		end, err := s.find(win, s.in.max)
		bad, _ := err.(*scan.Error)
		switch {
		case max(end, s.seen) > s.in.max:
			return nil, wire.TooLong(s.in.max)
		case bad != nil:
			return s.broken(win, bad)
		case end > 0:
			s.in.drop(end)
			return win[:end], nil
		}
		if err := s.in.more(); err == io.EOF {
			return nil, s.in.cutOff("%s", shown(s.in.window()))
		} else if err != nil {
			return nil, err
		}
	}
}

// broken handles an invalid value at the start of win. It returns the start of the value, or nil after garbage.
func (s *concatSource) broken(win []byte, bad *scan.Error) ([]byte, error) {
	switch {
	case bad.Deep: // find allows as many levels as a message may have bytes
		return nil, wire.TooLong(s.in.max)
	case s.marked():
		return nil, nil
	case s.tolerated():
		return nil, s.garbage(bad.Offset)
	case bad.Offset >= s.in.max:
		return nil, wire.TooLong(s.in.max)
	}
	s.skipper = &skipper{}
	n, over := s.skipper.skip(win[:min(bad.Offset+1, len(win))])
	if s.in.drop(n); over {
		s.skipper = nil
	}
	return scan.Trim(win[:n]), nil
}

// garbage drops the garbage at the start of the window through the end of the line that contains its invalid byte, at
// index at. If that byte is the first in its line, garbage drops only the preceding lines, because the byte may begin a
// value. It reads no other byte twice.
func (s *concatSource) garbage(at int) error {
	win := s.in.window()
	if at > s.in.max {
		return wire.TooLong(s.in.max)
	}
	if start := bytes.LastIndexByte(win[:at], '\n') + 1; start > 0 && scan.Skip(win, start) == at {
		s.in.drop(start)
		return s.lines(win[:start])
	}
	line, err := s.in.until(at, s.in.max, func(b []byte) int {
		return slices.IndexFunc(b, func(c byte) bool { return c == '\n' || s.sentinel && c == sentinelByte })
	})
	switch {
	case line == nil:
		return err
	case err != nil: // the next read returns the error again
		return s.lines(line)
	}
	end := s.in.window()[0]
	if s.in.drop(1); end == sentinelByte {
		return nil
	}
	return s.lines(line)
}

// A skipper finds the end of an invalid value: its closing bracket, the end of a line, or the start of an object where
// none can be nested. It reads each byte once.
type skipper struct {
	depth   int
	text    bool // inside a string
	escaped bool // after a backslash in a string
	last    byte // the last byte that is not blank, or 0
}

// skip returns how many bytes of b belong to the invalid value, and whether the value ends there.
func (s *skipper) skip(b []byte) (n int, over bool) {
	for i, c := range b {
		switch {
		case c == '\n':
			return i + 1, true
		case s.escaped:
			s.escaped = false
		case c == '"':
			s.text = !s.text
		case s.text:
			s.escaped = c == '\\'
		case c == '{' && s.last != 0 && !bytes.ContainsRune([]byte(":,[{"), rune(s.last)):
			return i, true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.depth <= 0 {
				return i + 1, true
			}
		}
		if c > ' ' {
			s.last = c
		}
	}
	return len(b), false
}
