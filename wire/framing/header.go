package framing

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// maxHeader bounds the header lines of a message, in bytes.
const maxHeader = 16 << 10

// Header returns the framing of the Language Server Protocol and the Debug Adapter Protocol: header lines with
// Content-Length, an empty line, and the message. Lines end with CRLF or LF. Header writes the additional header lines
// of o.Head, and ignores other headers when reading. In the output of a child, a line before a message is noise if it
// is not a header, or if it ends with LF and has an unknown name ("INFO: ...").
func Header(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	src := &headerSource{noise: newNoise(rwc, o), strict: o.Strict}
	return newConn(rwc, src.in, src, wrap{head: func(dst []byte, size int) []byte {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(size), 10)
		dst = append(dst, "\r\n"...)
		dst = append(dst, o.Head...)
		return append(dst, "\r\n"...)
	}})
}

type headerSource struct {
	noise
	strict bool // until the first message
	size   int  // the value of Content-Length, or -1 before that header
	lines  int  // the number of header lines of this message
}

func (s *headerSource) next() ([]byte, error) {
	if err := s.headers(); err != nil {
		return nil, err
	}
	s.strict = false
	msg, err := s.in.body(s.size, s.size)
	return scan.Trim(msg), err
}

func (s *headerSource) headers() error {
	s.size, s.lines = -1, 0
	total := 0
	for {
		line, err := s.headerLine()
		if err != nil {
			return err
		}
		if total += len(line); total > maxHeader {
			return broken("the peer sent headers of more than %d bytes", maxHeader)
		}
		text, crlf := bytes.CutSuffix(line, []byte("\r"))
		if len(scan.Trim(text)) == 0 {
			if s.size >= 0 {
				return nil
			}
			if s.lines > 0 {
				return broken("the peer sent headers without Content-Length")
			}
			continue // blank lines may precede a message
		}
		if quiet, err := s.header(text, crlf); err != nil {
			return err
		} else if quiet {
			total = 0
		}
	}
}

// header processes one header line. noise reports whether the line is noise instead.
func (s *headerSource) header(line []byte, crlf bool) (noise bool, err error) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !isToken(name) {
		return true, s.line(line)
	}
	switch {
	case strings.EqualFold(string(name), "Content-Length"):
		s.lines++
		return false, s.contentLength(string(scan.Trim(value)))
	case strings.EqualFold(string(name), "Content-Type"):
	case s.strict:
		return false, broken("the peer sent an unexpected header: %s", shown(line))
	case s.tolerated() && s.lines == 0 && !crlf:
		return true, s.line(line)
	}
	s.lines++
	return false, nil
}

func (s *headerSource) contentLength(value string) error {
	if strings.ContainsFunc(value, func(c rune) bool { return c < '0' || c > '9' }) {
		value = ""
	}
	size, err := strconv.Atoi(value)
	switch {
	case value == "":
		return broken("the peer sent a malformed Content-Length")
	case err != nil || size > s.in.max:
		return wire.TooLong(s.in.max)
	case s.size >= 0 && s.size != size:
		return broken("the peer sent two different Content-Lengths, %d and %d", s.size, size)
	}
	s.size = size
	return nil
}

// headerLine removes a line from the window and returns it without LF. If the input ends inside the line, the line is
// noise, or, inside headers, a fault.
func (s *headerSource) headerLine() ([]byte, error) {
	most := maxHeader
	if s.tolerated() && s.lines == 0 {
		most = max(most, s.in.max) // the line may be noise
	}
	line, err := s.in.until(0, most, lineEnd)
	switch {
	case line == nil:
		return nil, broken("the peer sent a header line of more than %d bytes: %s", most, shown(s.in.window()))
	case err == nil:
		s.in.drop(1)
		return line, nil
	case err != io.EOF:
	case s.lines > 0, s.in.whole && !s.tolerated() && beginsName(line):
		return nil, s.in.cutOff("its headers are incomplete")
	default:
		if bad := s.line(line); bad != nil {
			return nil, bad
		}
	}
	return nil, err
}

// isToken reports whether b is a valid header name.
func isToken(b []byte) bool {
	return len(b) > 0 && !bytes.ContainsFunc(b, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}

// beginsName reports whether line, which the end of the input cut off, may be the start of a message's first header: a
// prefix of a known header name.
func beginsName(line []byte) bool {
	for _, name := range []string{"Content-Length", "Content-Type"} {
		if n := len(line); n > 0 && n <= len(name) && strings.EqualFold(string(line), name[:n]) {
			return true
		}
	}
	return false
}
