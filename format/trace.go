package format

import (
	"bytes"
	"fmt"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// traced is how much of a message -v shows.
const traced = 2 << 10

// Trace shows a message for -v: its direction (> sent, < received), the time
// since the start, and the message, redacted and cut.
func (c *Console) Trace(d wire.Direction, msg []byte, at time.Duration) { c.TraceOf("", d, msg, at) }

// TraceOf is Trace with the name of the client whose message it is; "": there are
// none.
func (c *Console) TraceOf(client string, d wire.Direction, msg []byte, at time.Duration) {
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
