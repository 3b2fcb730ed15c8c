package tapeview

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
)

// A harEntry is an entry of the archive that is still being collected: an exchange or a WebSocket.
type harEntry struct {
	url      string
	socket   bool
	http     *tape.HTTP // nil if the tape has only messages
	start    time.Duration
	head     time.Duration // when the head of the response arrived
	end      time.Duration
	request  []harBody
	response []harBody
	messages []harBody
	answered bool // the response to the call has arrived
}

const eventStream = "text/event-stream"

// isStream reports whether the response is an event stream.
func (e *harEntry) isStream() bool {
	return e.http != nil && e.http.Status == http.StatusOK && strings.HasPrefix(contentType(e.http.Response), eventStream)
}

// isEmpty reports whether the response has no body.
func (e *harEntry) isEmpty() bool {
	return e.http != nil && (e.http.Status == http.StatusAccepted || e.http.Status == http.StatusNoContent)
}

// A harBody is one message.
type harBody struct {
	number int
	time   time.Duration
	sent   bool
	text   string
	bytes  []byte // the payload, if the message is not text
}

// absolute makes e.url absolute if it is only a path. endpoint is the base.
func (e *harEntry) absolute(endpoint string) {
	base, err := url.Parse(harURL(endpoint))
	ref, rerr := url.Parse(e.url)
	if err != nil || rerr != nil {
		return
	}
	ref.User = nil
	e.url = base.ResolveReference(ref).String()
}

// finish returns the entry as it is written to the archive.
func (e *harEntry) finish(started time.Time) harOut {
	if e.http == nil {
		e.http = e.assumed()
	}
	e.end = max(e.end, e.head, e.start)
	out := harOut{
		Started: started.Add(e.start).UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		Request: e.requestOut(), Response: e.responseOut(), Timings: e.timings(), Type: "fetch",
		Remote: (&url.URL{Host: e.http.Remote}).Hostname(), // without the port
	}
	out.Time = out.Timings.sum()
	if e.socket {
		out.Type, out.Messages = "websocket", []harMessage{}
	}
	for _, b := range e.messages {
		out.Messages = append(out.Messages, b.out(started))
	}
	return out
}

// assumed returns a plausible exchange, for a tape that has only messages.
func (e *harEntry) assumed() *tape.HTTP {
	if e.socket {
		return &tape.HTTP{Method: "GET", Status: http.StatusSwitchingProtocols}
	}
	h := &tape.HTTP{Method: "POST", Status: http.StatusOK}
	if len(e.response) == 0 {
		h.Status = http.StatusNoContent
	}
	return h
}

func (e *harEntry) version() string { return cmp.Or(e.http.Proto, "HTTP/1.1") }

func (e *harEntry) requestOut() harRequest {
	r := harRequest{
		Method: e.http.Method, URL: e.url, Version: e.version(), Cookies: []harPair{}, Headers: harPairs(e.http.Request),
		Query: harQuery(e.url), HeadersSize: -1,
	}
	if len(e.request) > 0 {
		text := joined(e.request)
		r.Post, r.BodySize = &harPosted{contentType(e.http.Request), text}, len(text)
	}
	return r
}

func (e *harEntry) responseOut() harResponse {
	r := harResponse{
		Status: e.http.Status, StatusText: http.StatusText(e.http.Status), Version: e.version(), Cookies: []harPair{},
		Headers: harPairs(e.http.Response), HeadersSize: -1, BodySize: -1, Error: format.CleanLine(e.http.Error),
		Content: harContent{Type: contentType(e.http.Response)},
	}
	r.Content.Text = joined(e.response)
	if strings.HasPrefix(r.Content.Type, eventStream) {
		r.Content.Text = asEvents(e.response)
	}
	r.Content.Size = len(r.Content.Text)
	return r
}

// timings returns the phases of the entry. The specification includes TLS in the connect time. Phases that are not on
// the tape are -1.
func (e *harEntry) timings() harTimings {
	t := harTimings{Blocked: -1, DNS: -1, Connect: -1, SSL: -1}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	if tls := e.http.Times.TLS; tls > 0 {
		t.SSL = ms(seconds(tls))
	}
	if connect := e.http.Times.Connect; connect > 0 {
		t.Connect = ms(seconds(connect)) + max(t.SSL, 0)
	}
	t.Wait = ms(seconds(e.http.Times.Wait))
	t.Receive = ms(e.end - max(e.head, e.start))
	if e.http.Times.Wait == 0 {
		t.Wait = ms(max(e.head-e.start, 0))
	}
	return t
}

func (t harTimings) sum() float64 {
	return max(t.Connect, 0) + t.Send + t.Wait + t.Receive
}

func (b harBody) out(started time.Time) harMessage {
	m := harMessage{Type: "receive", Time: float64(started.Add(b.time).UnixMicro()) / 1e6, Opcode: 1, Data: b.text}
	if b.sent {
		m.Type = "send"
	}
	if b.bytes != nil {
		m.Opcode, m.Data = 2, base64.StdEncoding.EncodeToString(b.bytes)
	}
	return m
}

func joined(all []harBody) string {
	return strings.Join(wire.Map(all, func(b harBody) string { return b.text }), "\n")
}

// asEvents returns messages in the form of an event stream.
func asEvents(all []harBody) string {
	var b strings.Builder
	for _, m := range all {
		for line := range strings.Lines(m.text) {
			b.WriteString("data: " + strings.TrimRight(line, "\r\n") + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func harPairs(headers [][2]string) []harPair {
	pairs := []harPair{}
	for _, h := range headers {
		pairs = append(pairs, harPair{h[0], redact.Header(h[0], h[1])})
	}
	return pairs
}

// harQuery returns the parameters in the query of a URL, in order.
func harQuery(address string) []harPair {
	pairs := []harPair{}
	_, query, _ := strings.Cut(address, "?")
	query, _, _ = strings.Cut(query, "#")
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if part != "" {
			pairs = append(pairs, harPair{unescaped(name), unescaped(value)})
		}
	}
	return pairs
}

// unescaped decodes a part of a query. If its escapes are invalid, it stays unchanged.
func unescaped(s string) string {
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}

func contentType(headers [][2]string) string {
	for _, h := range headers {
		if strings.EqualFold(h[0], "Content-Type") {
			return h[1]
		}
	}
	return "application/json"
}
