package tapeview

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
)

// A reader converts the lines on a tape to rows. Its rowFilter selects rows for --jq and --grep.
type reader struct {
	rowFilter
	header  tape.Header
	next    func() (*tape.Line, error)
	number  int
	last    time.Duration
	threads map[int]*thread // by connection
	waiting []Row           // the remaining rows of a line
	own     func(msg []byte) wire.Message
}

func newReader(r *tape.Reader, o Options) *reader {
	rows := &reader{rowFilter: rowFilter{o: o, calls: map[int]bool{}}, header: headerOf(r), next: r.Next, threads: map[int]*thread{}}
	if o.Own != nil {
		rows.own = o.Own(rows.header.Dialect)
	}
	return rows
}

// headerOf returns the header of a tape, redacted again, because tapes can be written by hand.
func headerOf(r *tape.Reader) tape.Header {
	h := r.Header()
	h.Endpoint = redact.Address(h.Endpoint)
	return h
}

// all yields the rows. If reading fails or ctx ends, the last row is nil and has an error.
func (r *reader) all(ctx context.Context) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		for {
			row, err := r.read()
			if err == io.EOF {
				return
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// read returns the next row, or io.EOF after the last. If a line describes a message without containing it, the row has
// no message.
func (r *reader) read() (*Row, error) {
	if len(r.waiting) == 0 {
		l, err := r.next()
		if err != nil {
			return nil, err
		}
		r.rows(l)
	}
	row := &r.waiting[0]
	r.waiting = r.waiting[1:]
	r.number++
	row.Number = r.number
	row.Gap = max(row.Time-r.last, 0)
	r.last = row.Time
	r.thread(row.Conn).place(row)
	return row, nil
}

func (r *reader) rows(l *tape.Line) {
	row := Row{Line: l.Number, Time: l.Time, Conn: l.Conn, Dir: l.Dir}
	switch l.Kind {
	case tape.Message:
		r.waiting = r.messages(r.waiting[:0], row, l)
		return
	case tape.Opening:
		open := *l.Open
		open.Endpoint = redact.Address(open.Endpoint)
		row.Kind, row.Open, row.Text = Opening, &open, openText(&open)
	case tape.Closing:
		row.Kind, row.Text = Closing, closeText(l.Close)
		row.Failed = l.Close.Error != ""
	case tape.Exchange:
		exchange := *l.HTTP
		exchange.URL = redact.Address(exchange.URL)
		row.Kind, row.HTTP, row.Text = Exchange, &exchange, httpText(&exchange)
		row.Failed = l.HTTP.Error != "" || l.HTTP.Status >= 400
	case tape.Note:
		row.Kind, row.Text = Note, string(redact.Text([]byte(l.Note)))
	}
	r.waiting = append(r.waiting[:0], row)
}

// messages appends the row for one message, or the rows for a batch.
func (r *reader) messages(rows []Row, row Row, l *tape.Line) []Row {
	if l.Note != "" {
		note := row
		note.Kind, note.Text = Note, l.Note
		rows = append(rows, note)
	}
	switch {
	case l.Msg == nil && l.Bytes == nil:
		row.Kind, row.Text, row.Name = Broken, "the condition for a message: "+l.Match, l.Re
		return append(rows, row)
	case l.Msg == nil:
		row.Kind, row.Raw, row.Text = Broken, notJSON(l.Bytes), "not JSON"
		row.Failed = true
		if !utf8.Valid(l.Bytes) {
			row.Bytes = l.Bytes
		}
		return append(rows, row)
	}
	msg := redact.JSON(l.Msg)
	if scan.Type(msg) != 'a' || r.own != nil && ownShape(r.own(msg)).kind != Broken {
		return append(rows, r.message(row, msg))
	}
	elements := scan.ReadArray(msg, wire.DefaultMaxDepth)
	before := len(rows)
	for _, val, ok := elements.Next(); ok; _, val, ok = elements.Next() {
		rows = append(rows, r.message(row, val))
	}
	if len(rows) == before {
		rows = append(rows, r.message(row, msg))
	}
	return rows
}

func (r *reader) message(row Row, msg []byte) Row {
	s := r.shapeOf(msg)
	row.Kind, row.Name, row.ID, row.Body = s.kind, s.name, string(s.id), s.body
	row.Failed, row.Final, row.Text = s.failed || s.kind == Broken, s.final, s.why
	row.Raw, row.Valid = msg, true
	if s.kind == Item {
		row.ID = string(s.stream)
	}
	return row
}

// notJSON returns a payload that is not JSON: text unchanged except for secrets, and the start of binary data in
// hexadecimal digits.
func notJSON(b []byte) []byte {
	if utf8.Valid(b) {
		return redact.JSON(b)
	}
	const most = 64
	if len(b) > most {
		return fmt.Appendf(nil, "%d bytes: % x …", len(b), b[:most])
	}
	return fmt.Appendf(nil, "%d bytes: % x", len(b), b)
}

func openText(o *tape.Open) string {
	text := "opened"
	if o.Reconnect {
		text = "opened again"
	}
	if o.Endpoint != "" {
		text += ": " + o.Endpoint
	}
	if o.From != "" {
		text += ", from " + o.From
	}
	if o.Subprotocol != "" {
		text += ", subprotocol " + o.Subprotocol
	}
	return text
}

func closeText(c *tape.Close) string {
	text := "closed"
	if c.Code != 0 {
		text += " with code " + strconv.Itoa(c.Code)
	}
	for _, more := range []string{c.Reason, c.Error} {
		if more != "" {
			text += ": " + string(redact.Text([]byte(more)))
		}
	}
	if c.Child != nil {
		text += ": " + c.Child.String()
	}
	return text
}

func httpText(h *tape.HTTP) string {
	text := h.Method + " " + h.URL
	if h.Status != 0 {
		text += " " + strconv.Itoa(h.Status)
	}
	if h.Error != "" {
		text += ": " + h.Error
	}
	return text
}

// seconds converts a time on a tape, which is in seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
