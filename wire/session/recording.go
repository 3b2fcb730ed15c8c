package session

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/peer"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/transport"
)

// A recording records one connection. The zero value records nothing.
type recording struct {
	to    *recorder.Conn // nil if it is not recorded
	lasts bool           // it has no end
	brief bool           // a POST to a listener, whose end is not recorded
	post  *postRecording // the POST; nil if it is not a POST, or not recorded
}

// record starts to record a connection. open describes how it is made. server reports the local role.
func (o Options) record(open tape.Open, server bool) recording {
	if o.Record == nil {
		return recording{}
	}
	return recording{to: o.Record.Conn(open, server)}
}

// conn returns the recorder of the connection. If it is not recorded, the recorder does nothing.
func (r recording) conn() *recorder.Conn {
	if r.to == nil {
		return new(recorder.Conn)
	}
	return r.to
}

// tap returns a tap that records messages and calls next.
func (r recording) tap(next wire.Tap) wire.Tap {
	switch {
	case r.to == nil:
		return next
	case r.post != nil:
		return both(r.post.message, next)
	}
	return both(r.to.Message, next)
}

// messages returns the wire.Record that records a peer's messages, or nil if nothing is recorded.
func (r recording) messages() wire.Record {
	switch {
	case r.to == nil:
		return nil
	case r.post != nil:
		return r.post.messages
	}
	return r.to.Messages
}

// failed records that the connection could not be made.
func (r recording) failed(err error) {
	if r.to != nil {
		r.to.Ended(wire.Recv, err)
	}
}

// ended records, before p's connection is closed locally, which side ends it. The returned function writes the end to the
// tape after the last messages.
func (r recording) ended(p *peer.Peer) (note func()) {
	if r.to == nil || r.lasts {
		return func() {}
	}
	return end(r.to, p)
}

// exchanged returns the function for transport.Config.Exchanged, or next if nothing is recorded.
func (r recording) exchanged(next func(transport.Exchange)) func(transport.Exchange) {
	if r.to == nil {
		return next
	}
	return Exchanged(r.to)
}

// Exchanged returns a function for transport.Config.Exchanged that records exchanges.
func Exchanged(to *recorder.Conn) func(transport.Exchange) {
	return func(x transport.Exchange) { to.HTTP(httpOf(x, to.Elapsed())) }
}

// noise returns a function that records the lines of a child that are not messages, and calls next.
func (r recording) noise(next func(line []byte)) func(line []byte) {
	if r.to == nil {
		return next
	}
	return r.to.Noise(next)
}

// httpOf converts x to the form of a tape. now is the time since the tape's start.
func httpOf(x transport.Exchange, now time.Duration) tape.HTTP {
	h := tape.HTTP{
		Method: x.Request.Method, URL: transport.RedactURL(x.Request.URL), Proto: x.Request.Proto, Request: headerLines(x.Request.Header), Remote: x.Remote,
		Times: tape.Times{Start: max(now-time.Since(x.Start), 0).Seconds(), Connect: x.Connect.Seconds(), TLS: x.TLS.Seconds(), Wait: x.Wait.Seconds()},
	}
	if x.Err != nil {
		h.Error = x.Err.Error()
	}
	if x.Response != nil {
		h.Proto, h.Status, h.Response = x.Response.Proto, x.Response.StatusCode, headerLines(x.Response.Header)
	}
	return h
}

// headerLines returns the lines of a header, by name, without their secrets.
func headerLines(header http.Header) (lines [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			if name == "Origin" { // it names the user's page
				value = tape.Redacted
			}
			lines = append(lines, [2]string{name, redact.Header(name, value)})
		}
	}
	return lines
}

// both returns a tap that calls first and then second, which may be nil.
func both(first, second wire.Tap) wire.Tap {
	if second == nil {
		return first
	}
	return func(d wire.Direction, msg []byte) {
		first(d, msg)
		second(d, msg)
	}
}

// inTurn returns a Record that calls first and then second, each of which may be nil.
func inTurn(first, second wire.Record) wire.Record {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(d wire.Direction, msg []byte, more ...[]byte) {
		first(d, msg, more...)
		second(d, msg, more...)
	}
}

// end returns a function that records the end of p's connection: as the peer's if it has already ended.
func end(rec *recorder.Conn, p *peer.Peer) func() {
	if !wire.IsClosed(p.Done()) {
		return func() { rec.Ended(wire.Send, nil) }
	}
	err := p.Err()
	return func() { rec.Ended(wire.Recv, err) }
}

// record starts to record a connection to s, if recording was requested. All POSTs to a listener are one connection on
// the tape, which has no end.
func (s *Server) record(conn wire.Conn) recording {
	open := tape.Open{Endpoint: s.Endpoint()}
	if _, post := conn.(wire.SingleExchange); !post {
		return s.options.record(open, true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posted.to == nil {
		s.posted = s.options.record(open, true)
		s.posted.lasts = true
	}
	return s.posted
}

// A postRecording records one POST to a listener. On the tape, the line of the HTTP exchange precedes the messages of
// the response, as in the recording of a client. So these messages are queued until the exchange is known.
type postRecording struct {
	recording
	answers wire.Direction // the direction of the messages of the answer

	mu       sync.Mutex
	recorded bool // the exchange has been recorded
	held     [][]byte
}

// message records a message, as a wire.Tap.
func (a *postRecording) message(d wire.Direction, msg []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d == a.answers && !a.recorded {
		a.held = append(a.held, bytes.Clone(msg))
		return
	}
	a.to.Message(d, msg)
}

// messages is message for several messages. It is a wire.Record.
func (a *postRecording) messages(d wire.Direction, msg []byte, more ...[]byte) {
	a.message(d, msg)
	for _, msg := range more {
		a.message(d, msg)
	}
}

// exchange records the HTTP exchange, and then the queued messages.
func (a *postRecording) exchange(x transport.Exchange) {
	a.exchanged(nil)(x)
	a.over()
}

// over records the queued messages.
func (a *postRecording) over() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.recorded = true
	for _, msg := range a.held {
		a.to.Message(a.answers, msg)
	}
	a.held = nil
}

// An exchangeTeller is a Conn that belongs to an HTTP exchange.
type exchangeTeller interface {
	OnExchange(tell func(transport.Exchange))
}

// from records the HTTP exchange of conn, if it has one. answers is the direction of the messages of the response, from
// the tap's view.
func (r recording) from(conn wire.Conn, answers wire.Direction) recording {
	by, ok := conn.(exchangeTeller)
	if !ok || r.to == nil {
		return r
	}
	if _, post := conn.(wire.SingleExchange); !post {
		by.OnExchange(r.exchanged(nil))
		return r
	}
	r.post = &postRecording{recording: r, answers: answers}
	by.OnExchange(r.post.exchange)
	return r
}

// answered records that nothing more is sent in the recorded POST, if it is one.
func (r recording) answered() {
	if r.post != nil {
		r.post.over()
	}
}
