package framing

import (
	"bytes"
	"io"

	"rpcx/wire"
	"rpcx/wire/scan"
)

const recordSeparator = 0x1e

// Seq returns the framing of RFC 7464: RS, a message, LF. It returns an array or object when it is complete, even if it
// spans several lines. Any other text ends with its line, or before the next RS. Seq returns this text unchanged, for
// the dialect to reject, and drops the rest up to the next RS. Bytes between texts are noise.
func Seq(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	src := &seqSource{noise: newNoise(rwc, o)}
	return newConn(rwc, src.in, src, wrap{
		prepare: oneLine,
		head:    func(dst []byte, _ int) []byte { return append(dst, recordSeparator) },
		tail:    "\n",
	})
}

type seqSource struct {
	noise
	finder
	place place
}

type place uint8

const (
	between place = iota
	inText
	behindBroken
)

func (s *seqSource) next() ([]byte, error) {
	for {
		s.in.drop(scan.Skip(s.in.window(), 0))
		win := s.in.window()
		switch {
		case len(win) == 0:
			if err := s.in.more(); err != nil {
				return nil, err
			}
		case win[0] == recordSeparator:
			s.in.drop(1)
			s.place = inText
		case s.place == inText:
			msg, err := s.text()
			if msg != nil || err != nil {
				return msg, err
			}
		case s.place == behindBroken:
			if n := bytes.IndexByte(win, recordSeparator); n >= 0 {
				s.in.drop(n)
			} else {
				s.in.drop(len(win))
			}
		default:
			b, err := s.upTo(0)
			if err == nil {
				err = s.line(b)
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

func (s *seqSource) text() ([]byte, error) {
	at := 0
	for opens(s.in.window()) {
		win := s.in.window()
		end, err := s.find(win, s.in.max)
		if bad, _ := err.(*scan.Error); bad != nil {
			at = bad.Offset
			break
		}
		if max(end, s.seen) > s.in.max {
			return nil, wire.TooLong(s.in.max)
		}
		if end > 0 {
			s.place = between
			s.in.drop(end)
			return win[:end], nil
		}
		if err := s.in.more(); err == io.EOF && s.in.whole {
			return nil, s.in.cutOff("%d bytes arrived", len(win))
		} else if err != nil {
			at = len(win)
			break
		}
	}
	s.place = behindBroken
	b, err := s.upTo(at)
	if err != nil {
		return nil, err
	}
	return scan.Trim(b), nil
}

// upTo removes and returns the bytes before the first LF or RS at or after index at of the window, or before the end of
// the input.
func (s *seqSource) upTo(at int) ([]byte, error) {
	b, err := s.in.until(at, s.in.max, func(b []byte) int { return bytes.IndexAny(b, "\n\x1e") })
	if err == io.EOF {
		err = nil
	}
	return b, err
}
