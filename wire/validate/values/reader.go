package values

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
)

// A value is one JSON value in a file, or text that is not valid JSON.
type value struct {
	line   int    // the number of its first line
	text   []byte // valid until the next call of next
	broken string // why the text is not JSON, or ""
}

// A reader splits a file into JSON values, each on one line or on several. After invalid text it continues where the
// next value probably begins: in NDJSON on the next line, otherwise on the next line that has an object or array in its
// first column.
type reader struct {
	in      *bufio.Reader
	unread  []line // lines to read again
	number  int    // the number of the last line
	decoder scan.Decoder
	text    []byte // the current value so far
	from    []line // the lines of text
}

// A line is a line of the file with its line break, or the end of one.
type line struct {
	number int
	text   []byte
}

// maxRetried is the maximum number of lines that are read again after an invalid value.
const maxRetried = 1000

func newReader(r io.Reader) *reader { return &reader{in: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next value, or io.EOF after the last.
func (r *reader) next() (value, error) {
	r.decoder = scan.Decoder{Depth: wire.DefaultMaxDepth}
	r.text, r.from = r.text[:0], r.from[:0]
	for {
		l, err := r.line()
		if err == io.EOF {
			return r.end()
		}
		if err != nil {
			return value{}, err
		}
		if l.number == 1 && len(r.from) == 0 {
			l.text = userfile.Unmarked(l.text)
		}
		if len(r.text) == 0 && len(bytes.TrimSpace(l.text)) == 0 {
			continue
		}
		r.from, r.text = append(r.from, l), append(r.text, l.text...)
		end, done, bad := r.decoder.Next(r.text)
		switch {
		case bad != nil:
			return r.broken(bad), nil
		case done:
			if rest := l.text[len(l.text)-(len(r.text)-end):]; len(bytes.TrimSpace(rest)) > 0 {
				r.unread = append([]line{{l.number, rest}}, r.unread...)
			}
			return value{line: r.from[0].number, text: r.text[:end]}, nil
		case len(r.text) > wire.DefaultMaxMessage:
			return value{}, fmt.Errorf("line %d: the value is larger than %d MiB", r.from[0].number, wire.DefaultMaxMessage>>20)
		}
	}
}

// line returns the next line, or what follows the last value on its line.
func (r *reader) line() (line, error) {
	if len(r.unread) > 0 {
		l := r.unread[0]
		r.unread = r.unread[1:]
		return l, nil
	}
	text, err := r.in.ReadBytes('\n')
	if len(text) == 0 {
		return line{}, err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return line{}, err
	}
	r.number++
	return line{r.number, text}, nil
}

// end returns the value that the end of the file completes (a number) or cuts off.
func (r *reader) end() (value, error) {
	if len(r.from) == 0 {
		return value{}, io.EOF
	}
	err := scan.Valid(r.text, wire.DefaultMaxDepth)
	if err == nil {
		return value{line: r.from[0].number, text: r.text}, nil
	}
	if e, ok := errors.AsType[*scan.Error](err); ok && e.Cut {
		err = errors.New("it is cut off")
	}
	return r.broken(err), nil
}

// broken reports the text from the first stored line on as invalid. The reader continues with the next line that begins
// a value, as in NDJSON.
func (r *reader) broken(err error) value {
	first := r.from[0].number
	later := r.from[1:]
	if len(later) > 0 && len(later) <= maxRetried && begins(later[0].text) {
		r.unread = slices.Concat(later, r.unread)
		return value{line: first, broken: "is not JSON: the value does not end on this line"}
	}
	reason := err.Error()
	if e, ok := errors.AsType[*scan.Error](err); ok { // without its position: reports name the line
		reason = e.What
	}
	text := "is not JSON: " + reason
	if len(later) > 0 {
		text += fmt.Sprintf(", on line %d", later[len(later)-1].number)
	}
	r.skip(len(later) > 0)
	return value{line: first, broken: text}
}

// skip skips the rest of an invalid value: all lines before the next that begins a value. If several is not set, there is
// a rest only if the next line is indented or begins with a closing bracket.
func (r *reader) skip(several bool) {
	for {
		l, err := r.line()
		if err != nil {
			return
		}
		if begins(l.text) || !several && strings.IndexByte(" \t}]", l.text[0]) < 0 {
			r.unread = append([]line{l}, r.unread...)
			return
		}
		several = true
	}
}

// begins reports whether a line has the start of an object or array in its first column.
func begins(text []byte) bool { return len(text) > 0 && (text[0] == '{' || text[0] == '[') }
