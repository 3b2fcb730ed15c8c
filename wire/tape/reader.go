package tape

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
)

// maxLine is the maximum length of a line in bytes: a message of the maximum size in base64, and the rest of the line.
const maxLine = wire.DefaultMaxMessage/3*4 + 64<<10

// A Reader reads a tape line by line, with bounded memory.
type Reader struct {
	name   string
	r      *bufio.Reader
	header Header
	line   Line
	number int
	long   []byte // the last line, if it is longer than the buffer of r
	offset int64  // the offset at which the last line ends in the file
	last   int    // the length of the last line in bytes, including its line break
	cut    bool
	err    error // the error that Next returns from now on
}

// NewReader reads the header of the tape in r. name is the name of the file for errors. These are usage Faults that contain the
// line number and the reason.
func NewReader(r io.Reader, name string) (*Reader, error) {
	t := &Reader{name: name, r: bufio.NewReaderSize(r, 64<<10)}
	b, err := t.next()
	if err == io.EOF {
		t.number = max(t.number, 1)
		return nil, t.fault(errors.New("it is empty: not even a header"))
	}
	if err != nil {
		return nil, err
	}
	if t.header, err = parseHeader(userfile.Unmarked(b)); err != nil {
		return nil, t.fault(err)
	}
	return t, nil
}

// Header returns the first line of the tape.
func (t *Reader) Header() Header { return t.header }

// Next returns the next line, or io.EOF after the last line. The line is valid until the next call of Next. Any other error is a
// usage Fault that contains the line number and the mistake. Further calls return the same error.
func (t *Reader) Next() (*Line, error) {
	if t.err != nil {
		return nil, t.err
	}
	b, err := t.next()
	if err != nil {
		t.err = err
		return nil, err
	}
	t.line = Line{Number: t.number, Time: t.line.Time}
	if err := t.line.parse(b); err != nil {
		if t.ended() && isCut(b) {
			t.cut, t.err = true, io.EOF
		} else {
			t.err = t.fault(err)
		}
		return nil, t.err
	}
	return &t.line, nil
}

// Span returns the offset and the length, in bytes, of the last line.
func (t *Reader) Span() (offset int64, length int) { return t.offset - int64(t.last), t.last }

// Cut reports, after io.EOF, whether the file ends in the middle of a line, which can happen when a recording is interrupted. Next does
// not return such a line. line is its number.
func (t *Reader) Cut() (line int, cut bool) { return t.number, t.cut }

// ParseLine parses b, which a Reader has already accepted, into l. The slices of l are parts of b.
func (l *Line) ParseLine(b []byte) error {
	*l = Line{Number: l.Number, Time: l.Time}
	return l.parse(b)
}

// next returns the next line that is not blank.
func (t *Reader) next() ([]byte, error) {
	for {
		b, err := t.read()
		if err != nil && err != io.EOF {
			return nil, err
		}
		if b = scan.Trim(b); len(b) > 0 {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// read returns one line. With io.EOF, it returns the bytes that follow the last line break.
func (t *Reader) read() ([]byte, error) {
	b, err := t.r.ReadSlice('\n')
	if len(b) > 0 {
		t.number++
	}
	defer func() { t.offset += int64(t.last) }()
	t.last = len(b)
	if !errors.Is(err, bufio.ErrBufferFull) {
		return b, t.readFault(err)
	}
	if cap(t.long) > 1<<20 {
		t.long = nil // frees the memory of a very long line
	}
	t.long = append(t.long[:0], b...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(t.long) > maxLine {
			return nil, t.fault(fmt.Errorf("it is longer than %d MiB", maxLine>>20))
		}
		b, err = t.r.ReadSlice('\n')
		t.long = append(t.long, b...)
		t.last = len(t.long)
	}
	return t.long, t.readFault(err)
}

func (t *Reader) readFault(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return wire.NewFault(wire.IO, "reading the tape "+t.name+": "+err.Error(), err)
}

// ended reports whether the input has no further bytes.
func (t *Reader) ended() bool {
	_, err := t.r.Peek(1)
	return err == io.EOF
}

func isCut(b []byte) bool {
	var e *scan.Error
	err := scan.Valid(b, depth)
	return b[0] == '{' && errors.As(err, &e) && e.Cut
}

// fault returns a Fault about the last line.
func (t *Reader) fault(err error) error {
	return Fault(t.name, t.number, err)
}

// Fault returns a usage Fault about a line of the tape in the file name.
func Fault(name string, line int, err error) *wire.Fault {
	f := wire.NewFault(wire.Usage, fmt.Sprintf("the tape %s, line %d: %v", name, line, err), err)
	if cause := wire.AsFault(err); cause != nil {
		f.Hint = cause.Hint
	}
	return f
}
