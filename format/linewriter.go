package format

import "bytes"

// Writer returns a writer for the stderr of a program, which arrives in pieces. It prints each line as Child does. from
// names the program. Flush prints a last line that has no line break.
func (c *Console) Writer(from string) *LineWriter { return &LineWriter{console: c, from: from} }

// Line prints a line unchanged, because programs read it.
func (c *Console) Line(text string) { c.put(text + "\n") }

// A LineWriter writes whole lines to a Console.
type LineWriter struct {
	console *Console
	from    string
	rest    []byte
}

// maxLine is the length, in bytes, from which a line is printed in pieces.
const maxLine = 64 << 10

// Write prints all complete lines. It never fails.
func (l *LineWriter) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		l.console.Child(l.from, append(l.rest, bytes.TrimSuffix(b[:i], []byte("\r"))...))
		l.rest, b = l.rest[:0], b[i+1:]
	}
	if l.rest = append(l.rest, b...); len(l.rest) > maxLine {
		l.Flush()
	}
	return n, nil
}

// Flush prints what has arrived of an incomplete line.
func (l *LineWriter) Flush() {
	if len(l.rest) > 0 {
		l.console.Child(l.from, l.rest)
		l.rest = l.rest[:0]
	}
}
