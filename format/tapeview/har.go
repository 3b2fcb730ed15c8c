package tapeview

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
)

// HAR writes the HTTP exchanges and WebSocket connections that r reads as an HTTP Archive, version 1.2, which browsers
// can open in their network panels. The messages of a WebSocket are in _webSocketMessages, an extension by Chromium
// that other programs also support. program is the version of rpcx.
//
// For a tape of any other transport, HAR returns a usage Fault, because the archive would be empty. Unlike the other
// views, HAR keeps the whole tape in memory, because the body of a response can be far from its head.
func HAR(ctx context.Context, w io.Writer, r *tape.Reader, program string, o Options) error {
	h := &harBuilder{header: headerOf(r), conns: map[int]*harConn{}}
	if err := h.read(ctx, newReader(r, o)); err != nil {
		return err
	}
	if len(h.entries) == 0 {
		return wire.NewFault(wire.Usage, "a HAR file contains only HTTP and WebSocket, but the tape has neither; use --format html", nil)
	}
	slices.SortStableFunc(h.entries, func(a, b *harEntry) int { return cmp.Compare(a.start, b.start) })
	doc := harFile{Log: harLog{Version: "1.2", Creator: harCreator{"rpcx", program}}}
	doc.Log.Entries = wire.Map(h.entries, func(e *harEntry) harOut { return e.finish(h.header.Started) })
	b, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return err
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return format.StdoutFault(err)
	}
	return nil
}

// A harBuilder assigns messages to HTTP exchanges. Only the order of the lines on a tape shows which of them belong
// together: the message of a request, the head of the response, and the messages in its body.
type harBuilder struct {
	header  tape.Header
	entries []*harEntry
	conns   map[int]*harConn
}

// A harConn is the state of one connection.
type harConn struct {
	socket  *harEntry         // the entry of the WebSocket, or nil
	waiting []harBody         // sent messages that have no exchange yet
	posts   map[int]*harEntry // exchanges by the Number of the row with the call
	last    *harEntry         // the latest exchange
	streams []*harEntry       // exchanges whose responses are event streams
	plain   bool              // messages are sent with HTTP requests
}

func (h *harBuilder) read(ctx context.Context, rows *reader) error {
	for row, err := range rows.all(ctx) {
		if err != nil {
			return err
		}
		switch {
		case row.Kind == Exchange:
			h.exchange(row)
		case row.Kind == Opening && row.Open.Endpoint != "":
			h.open(row, row.Open.Endpoint)
		case row.Kind == Closing && h.conn(row.Conn).socket != nil:
			h.conn(row.Conn).socket.end = row.Time
		case row.Kind.isMessage() && row.Raw != nil && rows.keeps(ctx, row):
			h.message(row)
		}
	}
	h.leftOver()
	return nil
}

// conn returns the connection with that number. If the tape has no opening line for the connection, its endpoint is the
// one in the tape's header.
func (h *harBuilder) conn(number int) *harConn {
	c := h.conns[number]
	if c == nil {
		c = h.opened(number, h.header.Endpoint, 0)
	}
	return c
}

// opened adds a connection to an endpoint. The entry of a WebSocket is added here.
func (h *harBuilder) opened(number int, endpoint string, at time.Duration) *harConn {
	c := &harConn{posts: map[int]*harEntry{}, plain: has(endpoint, "http")}
	if has(endpoint, "ws") {
		c.socket = h.add(&harEntry{url: harURL(endpoint), socket: true, start: at})
	}
	h.conns[number] = c
	return c
}

func (h *harBuilder) open(row *Row, endpoint string) {
	c := h.conns[row.Conn]
	switch {
	case c == nil:
		h.opened(row.Conn, endpoint, row.Time)
	case c.socket != nil && row.Open.Reconnect:
		c.socket = h.add(&harEntry{url: harURL(endpoint), socket: true, start: row.Time})
	}
}

func (h *harBuilder) add(e *harEntry) *harEntry {
	h.entries = append(h.entries, e)
	return e
}

// exchange adds an entry for an HTTP exchange. The upgrade of a WebSocket belongs to the entry of the connection.
func (h *harBuilder) exchange(row *Row) {
	const switching = 101
	if row.HTTP.Status == switching {
		h.upgrade(row)
		return
	}
	c := h.conn(row.Conn)
	c.plain = true
	e := h.add(&harEntry{url: row.HTTP.URL, http: row.HTTP, start: seconds(row.HTTP.Times.Start), head: row.Time})
	e.absolute(h.header.Endpoint)
	c.last = e
	if e.isStream() {
		c.streams = append(c.streams, e)
	}
	if row.HTTP.Method != "POST" {
		return
	}
	if i := c.nearest(e.start); i >= 0 {
		b := c.waiting[i]
		c.waiting = slices.Delete(c.waiting, i, i+1)
		e.request = append(e.request, b)
		c.posts[b.number] = e
	}
}

func (h *harBuilder) upgrade(row *Row) {
	c := h.conn(row.Conn)
	if c.socket == nil || c.socket.http != nil {
		c.socket = h.add(&harEntry{socket: true})
	}
	e := c.socket
	e.url, e.http, e.start, e.head = row.HTTP.URL, row.HTTP, seconds(row.HTTP.Times.Start), row.Time
	e.absolute(h.header.Endpoint)
	if rest, ok := strings.CutPrefix(e.url, "http"); ok { // browsers show an upgrade with the URL of the WebSocket
		e.url = "ws" + rest
	}
}

// nearest returns the index of the waiting message that was sent nearest to start, or -1.
func (c *harConn) nearest(start time.Duration) int {
	best := -1
	for i, b := range c.waiting {
		if best < 0 || (b.time-start).Abs() < (c.waiting[best].time-start).Abs() {
			best = i
		}
	}
	return best
}

// message adds a message to the entry of its WebSocket or exchange.
func (h *harBuilder) message(row *Row) {
	c := h.conn(row.Conn)
	b := harBody{number: row.Number, time: row.Time, sent: row.Dir == wire.Send, text: string(row.Raw), bytes: bytes.Clone(row.Bytes)}
	switch {
	case c.socket != nil:
		c.socket.messages = append(c.socket.messages, b)
		c.socket.end = max(c.socket.end, row.Time)
	case b.sent: // its exchange, which shows that this is HTTP, can follow later
		c.waiting = append(c.waiting, b)
	case c.plain:
		h.answer(c, row, b)
	}
}

// answer adds a received message to the exchange of its call. If the tape has no exchanges, each call gets one. A
// message that is not a response belongs to an event stream.
func (h *harBuilder) answer(c *harConn, row *Row, b harBody) {
	e := c.posts[row.Of]
	if e == nil {
		e = h.without(c, row.Of)
	}
	if row.Kind == Answer && e != nil {
		e.answered = true
	} else if e == nil || e.http != nil && !e.isStream() {
		if e = c.stream(); e == nil {
			e = c.last
		}
	}
	if e == nil {
		return
	}
	if e.isEmpty() { // the exchange is not on the tape
		e = h.add(&harEntry{url: e.url, http: &tape.HTTP{Method: "GET", Status: http.StatusOK, Response: [][2]string{{"Content-Type", eventStream}}}, start: b.time})
		c.streams = append(c.streams, e)
	}
	if e.http == nil && len(e.response) == 0 {
		e.head = b.time // the head of a response precedes its body
	}
	e.response = append(e.response, b)
	e.end = max(e.end, b.time)
}

// stream returns the event stream to which a message without a call belongs: that of the latest unanswered call, or that of
// a GET, or the latest. It returns nil if there is none.
func (c *harConn) stream() (best *harEntry) {
	for _, e := range c.streams {
		get := e.http.Method == "GET"
		if best == nil || !get && !e.answered || best.http.Method != "GET" && best.answered || get && best.http.Method == "GET" {
			best = e
		}
	}
	return best
}

// without adds an exchange for a call if the tape has none for it. Otherwise it returns nil.
func (h *harBuilder) without(c *harConn, call int) *harEntry {
	i := slices.IndexFunc(c.waiting, func(b harBody) bool { return b.number == call })
	if i < 0 || c.last != nil && c.last.http != nil {
		return nil
	}
	b := c.waiting[i]
	c.waiting = slices.Delete(c.waiting, i, i+1)
	e := h.alone(b)
	c.posts[b.number], c.last = e, e
	return e
}

func (h *harBuilder) alone(b harBody) *harEntry {
	return h.add(&harEntry{url: harURL(h.header.Endpoint), start: b.time, head: b.time, request: []harBody{b}})
}

// leftOver adds an exchange for each sent message that has none.
func (h *harBuilder) leftOver() {
	for _, number := range slices.Sorted(maps.Keys(h.conns)) {
		c := h.conns[number]
		if !c.plain {
			continue
		}
		for _, b := range c.waiting {
			h.alone(b)
		}
	}
}

// has reports whether the endpoint has the scheme, with or without TLS.
func has(endpoint, scheme string) bool {
	u := harURL(endpoint)
	return strings.HasPrefix(u, scheme+"://") || strings.HasPrefix(u, scheme+"s://")
}

// harURL returns the URL in an endpoint without dialect, framing and userinfo, or "". For a Unix socket, the host name
// is one that cannot exist.
func harURL(endpoint string) string {
	for {
		prefix, rest, ok := strings.Cut(endpoint, "+")
		if !ok || strings.ContainsAny(prefix, ":/") {
			break
		}
		if socket, found := strings.CutPrefix(rest, "unix:"); found {
			_, path, _ := strings.Cut(socket, ":/")
			return prefix + "://unix.invalid/" + path
		}
		endpoint = rest
	}
	u, err := url.Parse(strings.Replace(endpoint, "://"+redact.Mark+"@", "://", 1)) // a URL cannot contain this text
	if err != nil || u.Host == "" {
		return ""
	}
	u.User = nil
	return u.String()
}
