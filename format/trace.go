package format

import (
	"bytes"
	"fmt"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// traced bounds, in bytes, how much of a message -v shows.
const traced = 2 << 10

// Trace shows a message for -v: its direction (> sent, < received), the time
// since the start, and the message, redacted and cut.
func (c *Console) Trace(d wire.Direction, msg []byte, at time.Duration) { c.TraceOf("", d, msg, at) }

// TraceOf is Trace with the name of the client whose message it is; "": there are
// none.
func (c *Console) TraceOf(client string, d wire.Direction, msg []byte, at time.Duration) {
	if c.o.JSON {
		c.traceRow(client, d, msg, at)
		return
	}
	if client != "" {
		client += " "
	}
	mark := "> "
	if d == wire.Recv {
		mark = "< "
	}
	text := scan.Compact(nil, bytes.TrimSpace(redact.JSON(msg)))
	note := ""
	if len(text) > traced {
		text = bytes.ToValidUTF8(text[:traced], nil)
		note = fmt.Sprintf("… (%d bytes)", len(msg))
	}
	c.line(colorFaint, fmt.Sprintf("%s%.3fs %s", mark, at.Seconds(), client), string(text)+note)
}

// traceRow is TraceOf for --errors json: what is JSON stands there as such, unless it is too long.
func (c *Console) traceRow(client string, d wire.Direction, msg []byte, at time.Duration) {
	var o scan.Object
	o.SomeText("client", client)
	o.Text("dir", d.String())
	o.Value("t", at.Round(time.Millisecond).Seconds())
	text := scan.Compact(nil, bytes.TrimSpace(redact.JSON(msg)))
	if len(text) <= traced && scan.Valid(text, wire.DefaultMaxDepth) == nil {
		o.Add("msg", text)
	} else {
		o.Text("text", string(bytes.ToValidUTF8(text[:min(len(text), traced)], nil)))
		o.Int("bytes", int64(len(msg)))
	}
	c.row("trace", o.End())
}
