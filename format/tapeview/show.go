package tapeview

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"rpcx/format"
	"rpcx/wire/tape"
)

// ShowOptions determine how Show prints a tape.
type ShowOptions struct {
	Options
	Width int  // in columns (DefaultWidth by default)
	Color bool // use colors
}

// DefaultWidth is the default width of the text, in columns.
const DefaultWidth = 100

// Show writes the conversation that r reads to w as text. Messages of the client are on the left, and messages of the
// server are on the right. Show stores only open calls, so a tape can have any length. If the tape contains an error,
// Show first writes everything before it.
func Show(ctx context.Context, w io.Writer, r *tape.Reader, o ShowOptions) error {
	p := &printer{w: bufio.NewWriterSize(w, 64<<10), color: o.Color}
	p.lanes(o.Width)
	p.head(headerOf(r))
	err := p.rows(ctx, newReader(r, o.Options))
	if line, cut := r.Cut(); cut && err == nil {
		p.across(colorWarn, fmt.Sprintf("the tape is cut off inside line %d", line))
	}
	if werr := p.w.Flush(); werr != nil {
		return format.StdoutFault(werr)
	}
	return err
}

// rows prints all rows. Items are collected in runs until another kind of row follows.
func (p *printer) rows(ctx context.Context, rows *reader) error {
	for row, err := range rows.all(ctx) {
		if err != nil {
			p.flush()
			return err
		}
		if !rows.keeps(ctx, row) || row.Kind == Item && !row.Failed && p.fold(row) {
			continue
		}
		p.flush()
		p.row(row)
	}
	p.flush()
	return nil
}

// head prints the lines above the rows: what was recorded, and the titles of the lanes.
func (p *printer) head(h tape.Header) {
	text := "a tape"
	if h.Dialect != "" {
		text += " of " + h.Dialect
	}
	if h.Endpoint != "" {
		text += " with " + h.Endpoint
	}
	if !h.Started.IsZero() {
		text += ", " + h.Started.Format("2006-01-02 15:04:05 MST")
	}
	p.across(colorFaint, text)
	p.captions()
}

func (p *printer) row(row *Row) {
	switch row.Kind {
	case Opening, Closing, Exchange:
		p.event(row)
	case Note:
		p.line(row, "", colorNote, "# ", row.Text, "")
	default:
		p.message(row)
	}
}

// event prints a row that is not a message. It spans both lanes.
func (p *printer) event(row *Row) {
	color := colorFaint
	if row.Failed {
		color = colorError
	}
	text := row.Text
	if row.Kind == Exchange && row.HTTP.Times.Wait > 0 {
		text += ", " + shortTime(seconds(row.HTTP.Times.Wait))
	}
	p.line(row, "", color, "── ", text, "──")
}

// message prints a message in the lane of its sender.
func (p *printer) message(row *Row) {
	arrow, color := "─▶", ""
	mark, text := "", brief(row)
	switch row.Kind {
	case Answer:
		mark = "↩ "
		if row.Of != 0 {
			text = "(" + shortTime(row.Took) + ") " + text
		}
	case Notification, Item, Handshake:
		arrow = "┄▶"
	}
	if row.Failed {
		mark, color = "✗ ", colorError
	}
	p.line(row, arrow, color, mark, row.Name, text)
}

// maxBrief is the maximum number of bytes of a body that are needed for one line.
const maxBrief = 4 << 10

// brief returns the body of a message on one line, or the text if there is no body.
func brief(row *Row) string {
	switch {
	case row.Kind == Broken && row.Raw == nil: // the tape only describes the message
		return format.CleanLine(row.Text)
	case row.Kind == Broken && !row.Valid:
		return format.CleanLine(row.Text + ": " + string(row.Raw[:min(len(row.Raw), maxBrief)]))
	case row.Kind == Broken:
		return format.CleanLine(row.Text + " " + compact(row.Raw))
	case row.Failed:
		return errorText(row.Body)
	}
	return format.CleanLine(compact(row.Body))
}
