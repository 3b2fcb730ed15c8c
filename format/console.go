package format

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// ConsoleOptions describe how a Console writes.
type ConsoleOptions struct {
	Screen
	JSON bool // --errors json: each line is a JSON object
}

// A Console writes progress, guidance, log lines, warnings, traces and failures to stderr, one per line. It is safe for
// concurrent use. It ignores errors of its writer.
type Console struct {
	mu   sync.Mutex
	w    io.Writer
	o    ConsoleOptions
	bar  bool // the last line is a progress bar
	last time.Time
	rows bool // each progress update is a new line, because another program writes to the terminal
	from int  // the lowest level of log lines that are printed, as an index of LogLevels
}

// NewConsole returns a Console that writes to w.
func NewConsole(w io.Writer, o ConsoleOptions) *Console { return &Console{w: w, o: o} }

// If the Console's writer is a terminal, Above sends its lines to a Prompt, which prints them above the line that the
// user edits. The returned function restores the previous writer.
func (c *Console) Above(p *Prompt) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.o.Terminal {
		return func() {}
	}
	c.clear()
	w := c.w
	c.w, c.rows = p, true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.w, c.rows = w, false
	}
}

// barEvery is the minimum time between updates of the progress bar.
const barEvery = 50 * time.Millisecond

// rowEvery is the minimum time between progress lines if stderr is not a terminal.
const rowEvery = time.Second

// The colors of stderr.
const (
	colorError = "\x1b[31m"
	colorWarn  = "\x1b[33m"
	colorFaint = "\x1b[2m"
	colorTitle = "\x1b[1m"
)

// Progress draws a progress bar on the last line of a terminal, or only the message if the fraction is unknown. If
// stderr is not a terminal, it occasionally writes a line. The next line, or Clear, removes the bar.
func (c *Console) Progress(ev wire.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fraction, err := strconv.ParseFloat(string(ev.Fraction), 64)
	known := err == nil && fraction >= 0
	if !c.o.Terminal || c.o.Dumb || c.o.JSON {
		c.progressRow(ev, known, fraction)
		return
	}
	every := barEvery
	if c.rows {
		every = rowEvery
	}
	now := time.Now()
	if (c.bar || c.rows) && now.Sub(c.last) < every && !(known && fraction >= 1) {
		return
	}
	c.last = now
	text := CleanLine(ev.Message)
	if known {
		text = strings.TrimSpace(bar(fraction) + " " + text)
	}
	if c.rows {
		c.write(text + "\n")
		return
	}
	c.draw(text)
}

// Waiting draws text on the last line of a terminal, as Progress does. If stderr is not a terminal, it writes nothing.
func (c *Console) Waiting(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.o.Terminal && !c.o.Dumb && !c.o.JSON && !c.rows {
		c.draw(text)
	}
}

// draw replaces the last line of the terminal with text.
func (c *Console) draw(text string) {
	c.write("\r\x1b[K" + Cut(text, cmp.Or(c.o.Width, 80)-1))
	c.bar = true
}

// progressRow writes progress as a line if stderr is not a terminal: at most one line per second, and none if the
// operation takes less than a second.
func (c *Console) progressRow(ev wire.Event, known bool, fraction float64) {
	now := time.Now()
	if c.last.IsZero() {
		c.last = now
	}
	if now.Sub(c.last) < rowEvery {
		return
	}
	c.last = now
	if c.o.JSON {
		var what scan.Object
		what.SomeText("message", ev.Message)
		what.Add("fraction", ev.Fraction)
		c.write(string(scan.Pair("progress", what.End())) + "\n")
		return
	}
	text := CleanLine(ev.Message)
	if known {
		text = strings.TrimSpace(strconv.Itoa(int(min(fraction, 1)*100)) + "% " + text)
	}
	c.write("progress: " + text + "\n")
}

// bar returns a progress bar of twenty characters and the percentage.
func bar(fraction float64) string {
	const cells = 20
	fraction = min(fraction, 1)
	full := int(fraction * cells)
	percent := strconv.Itoa(int(fraction * 100))
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", cells-full) + "] " + strings.Repeat(" ", 3-len(percent)) + percent + "%"
}

// Clear removes a progress bar. If stdout and stderr are the same terminal, Clear must be called before each write to
// stdout.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

func (c *Console) clear() {
	if c.bar {
		c.write("\r\x1b[K")
		c.bar = false
	}
}

// Warn prints a warning from rpcx.
func (c *Console) Warn(text string) { c.say("warning", colorWarn, "rpcx: warning: ", text) }

// Note prints a line from rpcx that is neither a warning nor a failure.
func (c *Console) Note(text string) { c.say("note", "", "rpcx: ", text) }

// say prints a text with a label or, for --errors json, with the kind of line.
func (c *Console) say(kind, color, label, text string) {
	if c.o.JSON {
		c.row(kind, scan.JSON(text))
	} else {
		c.line(color, label, text)
	}
}

// Sources of lines for Child.
const (
	FromPeer = "peer" // the child process that is the peer, or code that the peer runs
	FromHook = "hook"
	FromJQ   = "jq" // debug and stderr in jq
)

// Child prints a line from the stderr of a program, without its line break. from names the program. On a terminal, it
// makes control characters visible. It does not retain the line.
func (c *Console) Child(from string, line []byte) {
	if c.o.JSON {
		var what scan.Object
		what.Text("from", from)
		what.Text("text", string(line))
		c.row("stderr", what.End())
		return
	}
	if c.o.Terminal {
		c.put(CleanLine(string(line)) + "\n")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	_, _ = c.w.Write(slices.Concat(line, []byte("\n")))
}

// Pass prints lines from another rpcx process.
func (c *Console) Pass(lines []byte) {
	if c.o.Terminal {
		lines = []byte(Clean(string(lines)))
	}
	c.put(string(lines))
}

// widestLine is the maximum number of characters in a line of text.
const widestLine = 16_000

// line prints a colored label and a text on one line.
func (c *Console) line(color, label, text string) {
	label = CleanLine(label)
	if c.o.Color && color != "" {
		label = color + label + colorOff
	}
	c.put(label + Cut(CleanLine(text), widestLine) + "\n")
}

// put writes whole lines, after removing a progress bar.
func (c *Console) put(lines string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	c.write(lines)
}

func (c *Console) write(s string) {
	_, _ = io.WriteString(c.w, redact.Known(s))
}
