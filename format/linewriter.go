package format

import "bytes"

// Writer returns a writer whose lines are shown as Child shows them, for
// programs' stderr that arrives in pieces; from says whose it is. A last line without its end is shown
// with Flush.
func (c *Console) Writer(from string) *LineWriter { return &LineWriter{console: c, from: from} }

// Line shows a line of ours for programs, as it stands.
func (c *Console) Line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	c.write(text + "\n")
}

// A LineWriter hands whole lines to a Console.
type LineWriter struct {
	console *Console
	from    string
	rest    []byte
}

// maxLine is the longest line that a LineWriter waits for.
const maxLine = 64 << 10

// Write shows each line that b ends. It never fails.
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

// Flush shows what has come of a line.
func (l *LineWriter) Flush() {
	if len(l.rest) > 0 {
		l.console.Child(l.from, l.rest)
		l.rest = l.rest[:0]
	}
}
