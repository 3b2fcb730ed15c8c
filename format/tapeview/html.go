package tapeview

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"rpcx/format"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
)

// The parts of the page are in separate files, so editors can treat them by their type.
var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string
)

// HTML writes the conversation that r reads as a single page, which needs neither a network nor other files. It writes
// rows while it reads the tape.
//
// A tape can be hostile. The page contains the text of the tape as JSON in which <, > and & are escaped, so the text
// cannot end its element. The page's script inserts the text only as text, and the page's policy allows only that
// script, by its hash.
func HTML(ctx context.Context, w io.Writer, r *tape.Reader, o Options) error {
	before, after, _ := strings.Cut(page(), "{{data}}")
	out := bufio.NewWriterSize(w, 64<<10)
	_, _ = out.WriteString(before)
	err := pageData(ctx, out, r, o)
	_, _ = out.WriteString(after)
	if werr := out.Flush(); werr != nil {
		return format.StdoutFault(werr)
	}
	return err
}

// page returns the page without its data.
func page() string {
	return strings.NewReplacer(
		"{{style}}", hashSource(pageCSS), "{{script}}", hashSource(pageJS),
		"{{css}}", pageCSS, "{{js}}", pageJS,
	).Replace(pageHTML)
}

// hashSource returns the source expression that allows an inline script or style in a Content-Security-Policy.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// pageHead is the start of the page's data: facts about the tape.
type pageHead struct {
	Endpoint string `json:"endpoint,omitempty"`
	Dialect  string `json:"dialect,omitempty"`
	Started  string `json:"started,omitempty"`
}

// A pageRow is a Row as the page's script reads it. The names are short because there can be many rows.
type pageRow struct {
	Number int         `json:"n"`
	Line   int         `json:"l"`
	Kind   string      `json:"k"`
	Time   float64     `json:"t"`           // in seconds
	Dir    string      `json:"d,omitempty"` // only for messages
	Conn   int         `json:"c,omitempty"`
	Depth  int         `json:"p,omitempty"`
	Method string      `json:"m,omitempty"`
	ID     string      `json:"i,omitempty"`
	Of     int         `json:"o,omitempty"`
	Took   *float64    `json:"w,omitempty"`
	Failed bool        `json:"f,omitempty"`
	Brief  string      `json:"b,omitempty"` // the start of the body
	Text   string      `json:"x,omitempty"`
	Raw    *string     `json:"r,omitempty"`
	JSON   bool        `json:"j,omitempty"`
	Facts  [][2]string `json:"h,omitempty"`
}

// pageData writes the data of the page: facts about the tape, then all rows.
func pageData(ctx context.Context, w *bufio.Writer, r *tape.Reader, o Options) error {
	h := headerOf(r)
	head := pageHead{Endpoint: h.Endpoint, Dialect: h.Dialect}
	if !h.Started.IsZero() {
		head.Started = h.Started.UTC().Format(http.TimeFormat)
	}
	b, _ := json.Marshal(head) // never fails for strings
	b = format.VisibleJSON(b)
	_, _ = w.Write(b[:len(b)-1])
	if len(b) > len("{}") {
		_ = w.WriteByte(',')
	}
	_, _ = w.WriteString(`"rows":[`)
	omitted, err := pageRows(ctx, w, newReader(r, o))
	_ = w.WriteByte(']')
	if omitted > 0 {
		_, _ = w.WriteString(`,"omitted":` + strconv.Itoa(omitted))
	}
	if line, cut := r.Cut(); cut && err == nil {
		_, _ = w.WriteString(`,"cut":` + strconv.Itoa(line))
	}
	_ = w.WriteByte('}')
	return err
}

// maxPageRows is the maximum number of rows on a page, because a browser must keep all of them in memory.
const maxPageRows = 100_000

// pageRows writes the rows. It returns the number of rows that it omitted because there are more than maxPageRows.
func pageRows(ctx context.Context, w *bufio.Writer, rows *reader) (omitted int, err error) {
	written := 0
	for row, err := range rows.all(ctx) {
		if err != nil {
			return omitted, err
		}
		if !rows.keeps(ctx, row) {
			continue
		}
		if written == maxPageRows {
			omitted++
			continue
		}
		b, err := json.Marshal(pageRowOf(row))
		if err != nil {
			return omitted, err
		}
		if written > 0 {
			_, _ = w.WriteString(",\n")
		}
		written++
		if _, err := w.Write(format.VisibleJSON(b)); err != nil {
			return omitted, format.StdoutFault(err)
		}
	}
	return omitted, nil
}

func pageRowOf(row *Row) pageRow {
	p := pageRow{
		Number: row.Number, Line: row.Line, Kind: row.Kind.String(), Time: row.Time.Seconds(), Conn: row.Conn, Depth: row.Depth,
		Method: row.Name, ID: row.ID, Of: row.Of, Failed: row.Failed, Text: row.Text, JSON: row.Valid,
	}
	if row.Kind.isMessage() {
		p.Dir = row.Dir.String()
		raw := string(row.Raw)
		p.Raw = &raw
		p.Brief = pageBrief(row)
	}
	if row.Kind == Answer && row.Of != 0 {
		took := row.Took.Seconds()
		p.Took = &took
	}
	if row.HTTP != nil {
		p.Facts = httpFacts(row.HTTP)
	}
	return p
}

// pageBrief returns the text that follows a message's name. It is at most as long as a row of the page can show.
func pageBrief(row *Row) string {
	const most = 160
	runes := []rune(brief(row))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

// httpFacts returns the lines that the page shows about an HTTP exchange.
func httpFacts(h *tape.HTTP) [][2]string {
	facts := [][2]string{}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, [2]string{name, value})
		}
	}
	add("Protocol", h.Proto)
	add("Remote", h.Remote)
	for _, part := range []struct {
		name    string
		seconds float64
	}{{"Connecting", h.Times.Connect}, {"TLS", h.Times.TLS}, {"Waiting", h.Times.Wait}} {
		if part.seconds > 0 {
			add(part.name, shortTime(seconds(part.seconds)))
		}
	}
	for _, header := range h.Request {
		add("> "+header[0], redact.Header(header[0], header[1]))
	}
	for _, header := range h.Response {
		add("< "+header[0], redact.Header(header[0], header[1]))
	}
	return facts
}
