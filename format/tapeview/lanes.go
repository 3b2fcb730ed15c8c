package tapeview

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/scan"
)

// The colors of the text. They never carry a meaning alone: errors, for example, also have a mark.
const (
	colorFaint = "\x1b[2m"
	colorError = "\x1b[31m"
	colorWarn  = "\x1b[33m"
	colorNote  = "\x1b[36m"
	colorName  = "\x1b[1m"
	colorOff   = "\x1b[0m"
)

// A printer prints rows: the line on the tape, the time, the time since the previous row, and two lanes with an arrow
// between them. If there is no room for two lanes, an arrow before each message shows the direction.
type printer struct {
	w     *bufio.Writer
	color bool
	width int
	lane  int    // the width of each lane in columns, or 0 if there is no room for two
	runs  []*run // the runs that have not ended, in the order of their first items
}

// Widths in columns: of what precedes the lanes, of the arrow between them, and the minimum of a lane.
const (
	marginWidth = 26
	arrowWidth  = 4
	leastLane   = 24
	maxNest     = 8
)

func (p *printer) lanes(width int) {
	if width <= 0 {
		width = DefaultWidth
	}
	p.width = max(width, marginWidth+leastLane)
	if lane := (p.width - marginWidth - arrowWidth) / 2; lane >= leastLane {
		p.lane = lane
	}
}

func (p *printer) captions() {
	if p.lane == 0 {
		return
	}
	text := fmt.Sprintf("%5s %9s %8s  %-*s%s", "line", "seconds", "after", p.lane+arrowWidth, "client", "server")
	p.paint(colorFaint, text)
	p.end()
}

// across prints text on a line that is not a row.
func (p *printer) across(color, text string) {
	p.paint(color, format.Cut(format.CleanLine(text), p.width))
	p.end()
}

// line prints a row: first the margin, then mark, name and text in the lane of the sender, with an arrow to the other
// lane. If arrow is "", the text spans both lanes.
func (p *printer) line(row *Row, arrow, color, mark, name, text string) {
	p.margin(row)
	nest := strings.Repeat("│ ", min(row.Depth, maxNest))
	if row.Conn != 0 {
		mark = fmt.Sprintf("[%d] ", row.Conn) + mark
	}
	switch {
	case arrow == "":
		p.cell(p.width-marginWidth, nest, color, mark, name, text)
	case p.lane == 0:
		p.cell(p.width-marginWidth, pointed(arrow, row.Dir)+" "+nest, color, mark, name, text)
	case row.Dir == wire.Send:
		used := p.cell(p.lane, nest, color, mark, name, text)
		p.pad(p.lane - used + 1)
		p.paint(colorFaint, arrow)
	default:
		p.pad(p.lane + 1)
		p.paint(colorFaint, pointed(arrow, row.Dir))
		p.pad(1)
		p.cell(p.lane, nest, color, mark, name, text)
	}
	p.end()
}

// pointed returns an arrow that points in the direction of a message.
func pointed(arrow string, dir wire.Direction) string {
	if dir == wire.Send {
		return arrow
	}
	return map[string]string{"─▶": "◀─", "┄▶": "◀┄"}[arrow]
}

// margin prints the row's line on the tape, its time, and the time since the previous row.
func (p *printer) margin(row *Row) {
	gap := ""
	if row.Gap > 0 {
		gap = "+" + shortTime(row.Gap)
	}
	p.paint(colorFaint, fmt.Sprintf("%5d %9.3f %8s  ", row.Line, row.Time.Seconds(), gap))
}

// cell prints text in a lane, cut to width columns, and returns its width in columns.
func (p *printer) cell(width int, nest, color, mark, name, text string) int {
	nest = format.Cut(nest, width)
	left := width - format.Width(nest)
	p.paint(colorFaint, nest)
	head := format.Cut(mark+format.CleanLine(name), left)
	rest := ""
	if room := left - format.Width(head); room > 0 && text != "" {
		rest = format.CleanLine(text)
		if head != "" && !strings.HasSuffix(head, " ") {
			rest = " " + rest
		}
		rest = format.Cut(rest, room)
	}
	if color == "" {
		p.paint(colorName, head)
		p.paint("", rest)
	} else {
		p.paint(color, head+rest)
	}
	return width - left + format.Width(head) + format.Width(rest)
}

func (p *printer) paint(color, text string) {
	if !p.color || color == "" || text == "" {
		_, _ = p.w.WriteString(text)
		return
	}
	_, _ = p.w.WriteString(color + text + colorOff)
}

func (p *printer) pad(n int) { _, _ = p.w.WriteString(strings.Repeat(" ", max(n, 0))) }

func (p *printer) end() { _ = p.w.WriteByte('\n') }

// compact returns the start of some JSON on one line, which is long enough for any row.
func compact(val []byte) string {
	return strings.ToValidUTF8(string(scan.Compact(nil, val[:min(len(val), maxBrief)])), "")
}

// errorText returns an error in human-readable form: its code, its message, and other members.
func errorText(err []byte) string {
	if scan.Type(err) != 'o' {
		return format.CleanLine(compact(err))
	}
	nested := err
	if inner := scan.Get(err, "error"); scan.Type(inner) == 'o' {
		nested = inner
	}
	var parts []string
	for _, name := range []string{"code", "class", "kind", "message", "desc", "data"} {
		val := scan.Get(nested, name)
		if text, ok := scan.Text(val); ok {
			parts = append(parts, text)
		} else if val != nil {
			parts = append(parts, compact(val))
		}
	}
	if len(parts) == 0 {
		return format.CleanLine(compact(err))
	}
	return format.CleanLine(strings.Join(parts, " "))
}

// shortTime returns a duration with at most three digits and a unit.
func shortTime(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 100*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
