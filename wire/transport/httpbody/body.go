// Package httpbody reads and writes the messages in an HTTP body, which is a single message, one message per line, or a
// stream of server-sent events.
package httpbody

import (
	"bufio"
	"bytes"
	"io"

	"rpcx/wire"
)

// Read reads a whole body. It removes leading and trailing whitespace, and a byte order mark.
func Read(r io.Reader, length int64, max int) ([]byte, error) {
	b, err := ReadBytes(r, length, max)
	return Trim(b), err
}

// Trim returns a body without leading and trailing whitespace, and without a byte order mark.
func Trim(b []byte) []byte { return bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))) }

// ReadBytes reads a whole body. It allocates memory for the bytes that it has received, and not for the length that was
// announced. If the announced length is above the limit, it returns an error at once.
func ReadBytes(r io.Reader, length int64, max int) ([]byte, error) {
	if length > int64(max) {
		return nil, wire.TooLong(max)
	}
	var b bytes.Buffer
	if length > 0 {
		b.Grow(int(min(length, 512<<10)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(io.LimitReader(r, int64(max)+1)); err != nil {
		return nil, err
	}
	if b.Len() > max {
		return nil, wire.TooLong(max)
	}
	return b.Bytes(), nil
}

// Lines calls recv with each line that is not blank, after Trim. The last line may lack a line break.
func Lines(r io.Reader, max int, recv func([]byte)) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), max+2) // two more bytes, for CRLF
	for s.Scan() {
		line := Trim(s.Bytes())
		if len(line) > max {
			return wire.TooLong(max)
		}
		if len(line) > 0 {
			recv(line)
		}
	}
	if s.Err() == bufio.ErrTooLong {
		return wire.TooLong(max)
	}
	return s.Err()
}
