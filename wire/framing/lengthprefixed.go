package framing

import (
	"bytes"
	"io"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// garbageShown is the maximum number of bytes that an error quotes from a noise line.
const garbageShown = 80

// A lengthPrefixedSource reads messages that follow their length. A message is an array, an object, or empty. Other
// lines in the output of a child are noise.
type lengthPrefixedSource struct {
	noise
	// length reads the length at the start of win, which is n bytes long. n is 0 if more bytes are needed, and negative
	// if there is no length.
	length func(win []byte) (size uint64, n int)
	tail   byte // follows each message, perhaps with blanks behind it; 0 for none
}

func newLengthPrefixed(rwc io.ReadWriteCloser, o wire.Options, s *lengthPrefixedSource, w wrap) wire.Conn {
	s.noise = newNoise(rwc, o)
	s.in.begun = true // with a length
	return newConn(rwc, s.in, s, w)
}

func (s *lengthPrefixedSource) next() ([]byte, error) {
	for {
		if s.tail != 0 {
			s.in.drop(scan.Skip(s.in.window(), 0))
		}
		win := s.in.window()
		size, n := s.length(win)
		known, message := n < 0, false
		if n > 0 {
			known, message = begins(win[n:], size)
		}
		switch {
		case known && !message:
			if err := s.garbage(); err != nil {
				return nil, err
			}
		case known && size > uint64(s.in.max):
			return nil, wire.TooLong(s.in.max)
		case known:
			s.in.drop(n)
			return s.take(int(size))
		default:
			if err := s.in.more(); err == io.EOF && n > 0 {
				return nil, s.in.cutOff("%d of %d bytes were received", len(win)-n, size)
			} else if err == io.EOF && len(win) > 0 {
				return nil, s.in.cutOff("its length is incomplete")
			} else if err != nil {
				return nil, err
			}
		}
	}
}

// begins reports whether part can be the start of a message of that size, or is blank, once this is known.
func begins(part []byte, size uint64) (known, message bool) {
	whole := uint64(len(part)) >= size
	if whole {
		part = part[:size]
	}
	i := scan.Skip(part, 0)
	if i == len(part) {
		return whole, true
	}
	return true, opens(part[i:])
}

// take waits for a message of the given size and its tail.
func (s *lengthPrefixedSource) take(size int) ([]byte, error) {
	all := size
	if s.tail != 0 {
		all++
	}
	msg, err := s.in.body(size, all)
	if err != nil {
		return nil, err
	}
	if all > size && msg[size] != s.tail {
		return nil, broken("the peer sent a message that does not end with %q", s.tail)
	}
	return scan.Trim(msg[:size]), nil
}

// garbage drops the noise line at the start of the window. If the connection broke inside that line, it returns the
// error.
func (s *lengthPrefixedSource) garbage() error {
	most := s.in.max
	if !s.tolerated() {
		most = min(most, garbageShown)
	}
	line, err := s.in.until(0, most, lineEnd)
	if line == nil && most < s.in.max {
		line, _, _ = bytes.Cut(s.in.window(), []byte("\n"))
		return s.fault(line)
	}
	if bad := s.line(line); bad != nil && (err == nil || err == io.EOF || s.tolerated()) {
		return bad
	}
	if err == nil {
		s.in.drop(1)
	}
	return err
}
