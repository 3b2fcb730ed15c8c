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
	lines  *bufio.Scanner
	header Header
	line   Line
	number int
	start  int64 // the offset of the last line in the file
	length int   // the length of the last line in bytes, including its line break
	cut    bool
	err    error // the error that Next returns from now on
}

// NewReader reads the header of the tape in r. name is the name of the file for errors. These are usage Faults that contain the
// line number and the reason.
func NewReader(r io.Reader, name string) (*Reader, error) {
	t := &Reader{name: name, lines: bufio.NewScanner(r)}
	t.lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	t.lines.Split(func(data []byte, end bool) (n int, line []byte, err error) {
		if n, line, err = bufio.ScanLines(data, end); n > 0 {
			t.number++
			t.start, t.length = t.start+int64(t.length), n
		}
		return n, line, err
	})
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
		t.err = t.fault(err)
		if isCut(b) && !t.lines.Scan() { // it is the last line
			t.err = t.end()
			t.cut = t.err == io.EOF
		}
		return nil, t.err
	}
	return &t.line, nil
}

// Span returns the offset and the length, in bytes, of the last line.
func (t *Reader) Span() (offset int64, length int) { return t.start, t.length }

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
	for t.lines.Scan() {
		if b := scan.Trim(t.lines.Bytes()); len(b) > 0 {
			return b, nil
		}
	}
	return nil, t.end()
}

// end returns why there are no more lines: io.EOF, or a Fault.
func (t *Reader) end() error {
	switch err := t.lines.Err(); {
	case err == nil:
		return io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return Fault(t.name, t.number+1, fmt.Errorf("it is longer than %d MiB", maxLine>>20))
	default:
		return wire.NewFault(wire.IO, "reading the tape "+t.name+": "+err.Error(), err)
	}
}

func isCut(b []byte) bool {
	e, ok := errors.AsType[*scan.Error](scan.Valid(b, depth))
	return b[0] == '{' && ok && e.Cut
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
