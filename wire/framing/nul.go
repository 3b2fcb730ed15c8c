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
	for {
		s.in.drop(scan.Skip(s.in.window(), 0))
		if len(s.in.window()) == 0 {
			if err := s.in.more(); err != nil {
				return nil, err
			}
			continue
		}
		b, err := s.in.until(0, s.in.max, s.end)
		if b == nil {
			return nil, err
		}
		end := s.part(b)
		if err != nil && end == len(b) {
			return s.last(b, err)
		}
		s.in.drop(end - len(b) + 1) // the NUL or the line feed, or back to the next line
		if msg, err := s.message(b[:end]); msg != nil || err != nil {
			return msg, err
		}
	}
}

// end returns the index in part of the NUL that ends a message, or of the line feed that ends a noise line. part belongs to
// the message or line at the start of the window.
func (s *nulSource) end(part []byte) int {
	if opens(s.in.window()) {
		return bytes.IndexByte(part, 0)
	}
	return bytes.IndexAny(part, "\x00\n")
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
