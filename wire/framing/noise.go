package framing

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// noise counts the lines of an input that are not messages, and forwards them.
type noise struct {
	in    *input
	limit int
	out   func(line []byte)
	count int
}

func newNoise(src io.Reader, o wire.Options) noise {
	o = o.WithDefaults()
	in := &input{src: src, max: o.MaxMessage, whole: o.Whole, first: o.First, seen: o.Seen}
	return noise{in: in, limit: o.NoiseLimit, out: o.Noise}
}

func (n *noise) tolerated() bool { return n.limit > 0 }

// line processes one noise line. Blank lines do not count.
func (n *noise) line(b []byte) error {
	b = bytes.TrimRight(b, "\r\n")
	if len(scan.Trim(b)) == 0 {
		return nil
	}
	if n.count++; n.count > n.limit {
		return n.fault(b)
	}
	if n.out != nil && !n.in.closed.Load() { // Close may have cut off a message
		n.out(b)
	}
	return nil
}

// lines processes several noise lines.
func (n *noise) lines(b []byte) error {
	for line := range bytes.Lines(b) {
		if err := n.line(line); err != nil {
			return err
		}
	}
	return nil
}

func (n *noise) fault(b []byte) error {
	text := "the peer sent invalid JSON: " + shown(b)
	if n.limit > 0 {
		text = fmt.Sprintf("the peer sent more than %d lines that are not JSON; the last: %s", n.limit, shown(b))
	}
	return wire.NewFault(wire.Protocol, text, &wire.UnexpectedLine{Line: bytes.Clone(b)})
}

// shown returns the start of b in quotes, escaped for a terminal.
func shown(b []byte) string {
	const most = 80
	if len(b) > most {
		return strconv.QuoteToGraphic(string(b[:most])) + "…"
	}
	return strconv.QuoteToGraphic(string(b))
}

// opens reports whether b, which has no leading blanks, begins like a message.
func opens(b []byte) bool { return len(b) > 0 && (b[0] == '{' || b[0] == '[') }

// plausible reports whether b can be a message if noise is tolerated. b begins like a message and has no surrounding
// blanks. plausible checks only both ends of an object, because scanning each message twice would be slow. It scans
// arrays completely, because they are rare as messages but common at the start of log lines.
func plausible(b []byte) bool {
	if b[0] == '[' {
		err := scan.Valid(b, wire.DefaultMaxDepth)
		bad, _ := err.(*scan.Error)
		return bad == nil || bad.Deep // the dialect rejects deep nesting
	}
	if b[len(b)-1] != '}' {
		return false
	}
	i := scan.Skip(b, 1)
	if b[i] != '"' {
		return i == len(b)-1
	}
	// A key has depth 0.
	end, err := scan.Value(b, i, 0)
	if err != nil {
		return false
	}
	end = scan.Skip(b, end)
	return b[min(end, len(b)-1)] == ':'
}

// A messageFilter separates messages from noise in framings that mark the ends of messages.
type messageFilter struct {
	noise
	scalars bool // scalar values are also messages, which the dialect rejects
}

// last processes the bytes before the end of the input. err is the read error. If the connection broke, only a complete
// message counts.
func (j *messageFilter) last(rest []byte, err error) ([]byte, error) {
	if err == io.EOF && j.in.whole && opens(scan.Trim(rest)) {
		if bad, _ := scan.Valid(rest, wire.DefaultMaxDepth).(*scan.Error); bad != nil && bad.Cut {
			return nil, j.in.cutOff("%d bytes arrived", len(rest))
		}
	}
	if err != io.EOF && scan.Valid(rest, wire.DefaultMaxDepth) != nil {
		msg := scan.Trim(rest)
		if j.tolerated() && len(msg) > 0 && !(opens(msg) && plausible(msg)) {
			_ = j.line(rest) // the error of the connection is more useful
		}
		return nil, err
	}
	msg, bad := j.message(rest)
	if msg == nil && bad == nil {
		bad = err
	}
	return msg, bad
}

// message returns b without surrounding blanks if it is a message. It returns nil for blanks and noise.
func (j *messageFilter) message(b []byte) ([]byte, error) {
	msg := scan.Trim(b)
	switch {
	case len(msg) == 0:
		return nil, nil
	case len(msg) > j.in.max:
		return nil, wire.TooLong(j.in.max)
	case opens(msg) && (!j.tolerated() || plausible(msg)):
		return msg, nil
	case j.scalars && !j.tolerated() && scan.Valid(msg, wire.DefaultMaxDepth) == nil:
		return msg, nil
	}
	return nil, j.line(b)
}

func broken(format string, args ...any) error {
	return wire.NewFault(wire.Protocol, fmt.Sprintf(format, args...), nil)
}
