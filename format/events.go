package format

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// This file prints events in human-readable form, and the lines of --errors json.

// LogLevels are the levels of log lines, lowest first.
var LogLevels = []string{"trace", "debug", "info", "warn", "error", "fatal"}

// LogLevel sets the lowest level of log lines that are printed. "" stands for info. Before the first call, all lines
// are printed. Lines with an unknown level are always printed.
func (c *Console) LogLevel(level string) {
	level = cmp.Or(level, "info")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.from = slices.Index(LogLevels, level)
}

func (c *Console) hides(level string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(LogLevels, level)
	return i >= 0 && i < c.from
}

// Event prints an event in human-readable form: progress, guidance, a log line or a gap.
func (c *Console) Event(ev wire.Event) {
	switch ev.Kind {
	case wire.Progress:
		c.Progress(ev)
	case wire.Guidance:
		c.Guidance(ev)
	case wire.Log:
		c.Log(ev)
	case wire.Gap:
		c.Warn(missed(ev))
	}
}

func missed(ev wire.Event) string {
	text := "items may have been missed"
	if ev.Missed >= 0 {
		text = strconv.FormatInt(ev.Missed, 10) + " items were missed"
	}
	if ev.Message != "" {
		text += ": " + ev.Message
	}
	return text
}

// Guidance prints the peer's advice. The suggested command is quoted for sh. rpcx never runs it.
func (c *Console) Guidance(ev wire.Event) {
	if c.o.JSON {
		c.row("guidance", eventRow(ev))
		return
	}
	parts := slices.DeleteFunc([]string{ev.Topic, ev.Message, ev.Action}, func(s string) bool { return s == "" })
	c.line(colorTitle, "guidance: ", withFix(strings.Join(parts, ": "), ev.Fix))
}

// Log prints a log line from the peer.
func (c *Console) Log(ev wire.Event) {
	level, color := strings.ToLower(ev.Level), ""
	switch {
	case c.hides(level):
		return
	case level == "stdout": // lines that the code printed
		for line := range strings.Lines(ev.Message) {
			c.Child(FromPeer, []byte(strings.TrimSuffix(line, "\n")))
		}
		return
	case c.o.JSON:
		c.row("log", eventRow(ev))
		return
	}
	switch level {
	case "":
		level = "log"
	case "error", "fatal", "critical", "panic", "emergency", "alert":
		color = colorError
	case "warn", "warning":
		color = colorWarn
	case "debug", "trace":
		color = colorFaint
	}
	c.line(color, level+": ", ev.Message+pairs(ev.Extra))
}

// pairs returns the members of a log line, without its message, as KEY=VALUE.
func pairs(extra json.RawMessage) string {
	var b strings.Builder
	for key, val := range scan.Members(extra) {
		text, isText := scan.Text(val)
		if !isText || strings.ContainsAny(text, " \"=") || text == "" {
			text = string(scan.Compact(nil, val))
		}
		b.WriteString(" " + scan.Key(key) + "=" + text)
	}
	return b.String()
}

// row writes a line for --errors json: an object with one member, whose name is the kind of line.
func (c *Console) row(name string, val json.RawMessage) { c.object(scan.Pair(name, val)) }

// object writes a JSON object on a line. It escapes control characters.
func (c *Console) object(b []byte) {
	c.put(string(style{escape: true}.append(nil, b)) + "\n")
}

// eventRow returns an event as JSON without its kind, because the line already has it.
func eventRow(ev wire.Event) json.RawMessage {
	var o scan.Object
	o.Members(ev.AppendJSON(nil), "event")
	return o.End()
}
