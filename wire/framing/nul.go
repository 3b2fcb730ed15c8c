package framing

import (
	"bytes"
	"io"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Nul returns the framing with a NUL after each message, except perhaps the last one. Other lines before a message are
// noise.
func Nul(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	src := &nulSource{messageFilter{noise: newNoise(rwc, o), scalars: o.Strict}}
	return newConn(rwc, src.in, src, wrap{prepare: withoutNul, tail: "\x00"})
}

type nulSource struct{ messageFilter }

func (s *nulSource) next() ([]byte, error) {
	seen := 0
	for {
		if seen == 0 {
			s.in.drop(scan.Skip(s.in.window(), 0))
		}
		win := s.in.window()
		end := nulEnd(win, seen)
		if end >= 0 {
			win = win[:end]
		}
		if seen = len(win); seen > s.in.max {
			return nil, wire.TooLong(s.in.max)
		}
		if end < 0 {
			err := s.in.more()
			if err == nil {
				continue
			}
			win = s.in.window()
			if end = s.part(win); end == len(win) {
				s.in.drop(end)
				return s.last(win, err)
			}
		} else {
			end = s.part(win)
		}
		s.in.drop(end + 1)
		seen = 0
		if msg, err := s.message(win[:end]); msg != nil || err != nil {
			return msg, err
		}
	}
}

// nulEnd returns the end of the message at the start of win: its NUL, or the line feed if it is a noise line. The first seen
// bytes contain neither.
func nulEnd(win []byte, seen int) int {
	end := bytes.IndexByte(win[seen:], 0)
	if !opens(win) {
		part := win[seen:]
		if end >= 0 {
			part = part[:end]
		}
		if line := bytes.IndexByte(part, '\n'); line >= 0 {
			end = line
		}
	}
	if end < 0 {
		return end
	}
	return seen + end
}

// part returns how many bytes of b to examine: all, or only the first line if that is noise and a message may follow.
func (s *nulSource) part(b []byte) int {
	whole := scan.Trim(b)
	if len(whole) == 0 || opens(whole) && (!s.tolerated() || plausible(whole)) {
		return len(b)
	}
	if line := bytes.IndexByte(b, '\n'); line >= 0 {
		return line
	}
	return len(b)
}

func withoutNul(msg []byte) ([]byte, error) {
	if bytes.IndexByte(msg, 0) >= 0 {
		return nil, wire.NewFault(wire.Usage, "a message that contains a NUL cannot be sent", nil)
	}
	return msg, nil
}
