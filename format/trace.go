package format

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// traced is the maximum number of bytes of a message that -v prints.
const traced = 2 << 10

// Trace prints a message for -v: its direction (> sent, < received), the time since the start, the name of the client on
// the connection (unless it is ""), and the message, redacted and shortened. With --errors json, it prints the message as
// JSON unless the message is too long or not JSON.
func (c *Console) Trace(client string, d wire.Direction, msg []byte, at time.Duration) {
	text := scan.Compact(nil, bytes.TrimSpace(redact.JSON(msg)))
	start, note := text, ""
	if len(text) > traced {
		start, note = bytes.ToValidUTF8(text[:traced], nil), fmt.Sprintf("… (%d bytes)", len(msg))
	}
	if !c.o.JSON {
		c.line(colorFaint, heading(mark(d), at, client), string(start)+note)
		return
	}
	var o scan.Object
	o.SomeText("client", client)
	o.Text("dir", d.String())
	o.Value("t", at.Round(time.Millisecond).Seconds())
	if note == "" && scan.Valid(text, wire.DefaultMaxDepth) == nil {
		o.Add("msg", text)
	} else {
		o.Text("text", string(bytes.ToValidUTF8(start, nil)))
		o.Int("bytes", int64(len(msg)))
	}
	c.row("trace", o.End())
}

func mark(d wire.Direction) string {
	if d == wire.Recv {
		return "<"
	}
	return ">"
}

// heading returns the start of a line for -v.
func heading(mark string, at time.Duration, client string) string {
	if client != "" {
		client += " "
	}
	return fmt.Sprintf("%s %.3fs %s", mark, at.Seconds(), client)
}

// Fact prints a fact about a connection for -v. at is the time since the start. The additional lines of the fact
// follow.
func (c *Console) Fact(f wire.Fact, at time.Duration) {
	if c.o.JSON {
		var o scan.Object
		o.SomeText("client", f.Who)
		o.Text("step", f.Step)
		o.Value("t", at.Round(time.Microsecond).Seconds())
		o.Text("text", f.Text)
		if len(f.Lines) > 0 {
			o.Value("lines", f.Lines)
		}
		if f.Took > 0 {
			o.Value("took", f.Took.Round(time.Microsecond).Seconds())
		}
		c.row("trace", o.End())
		return
	}
	head := heading("*", at, f.Who)
	text := f.Step + ": " + f.Text
	if f.Took > 0 {
		text += fmt.Sprintf(" (%.1f ms)", float64(f.Took.Microseconds())/1000)
	}
	c.line(colorFaint, head, Cut(CleanLine(text), traced))
	for _, line := range f.Lines {
		c.line(colorFaint, head, "  "+Cut(CleanLine(line), traced))
	}
}

// Piece prints the bytes of a piece, escaped, for -vv. They follow ">>" if they were sent and "<<" if they were
// received.
func (c *Console) Piece(p wire.Piece, at time.Duration) {
	text := string(escaped(p.Shown))
	if c.o.JSON {
		var o scan.Object
		o.SomeText("client", p.Who)
		o.Text("dir", p.Dir.String())
		o.Value("t", at.Round(time.Microsecond).Seconds())
		o.SomeText("frame", p.Frame)
		o.Int("bytes", int64(p.Size))
		o.Text("wire", text)
		c.row("trace", o.End())
		return
	}
	what := fmt.Sprintf("%d bytes: ", p.Size)
	if p.Frame != "" {
		what = p.Frame + ", " + what
	}
	if len(p.Shown) >= traced {
		text += "…"
	}
	c.line(colorFaint, heading(strings.Repeat(mark(p.Dir), 2), at, p.Who), what+text)
}

// escaped returns bytes as one line of text: line breaks and unprintable characters are written as in a Go string,
// backslashes are doubled, and quotes stay unchanged.
func escaped(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == '"':
			out = append(out, '"')
		case r == utf8.RuneError && size == 1:
			out = fmt.Appendf(out, `\x%02x`, b[0])
		default:
			quoted := strconv.AppendQuoteRune(nil, r)
			if r == '\'' {
				quoted = []byte(`'''`)
			}
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		b = b[size:]
	}
	return out
}

// Times prints the measured times of a command as JSON. If all is nil, it prints text instead.
func (c *Console) Times(all []byte, text string) {
	if c.o.JSON {
		c.row("times", scan.Or(all, scan.JSON(text)))
		return
	}
	for line := range strings.Lines(cmp.Or(string(all), text)) {
		c.line("", "", line)
	}
}
