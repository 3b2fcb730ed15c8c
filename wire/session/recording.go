package session

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/transport"
)

// A recording writes one connection to a tape. The zero value records nothing.
type recording struct {
	to    *recorder.Conn // nil if nothing is recorded
	lasts bool           // the end of the connection is not recorded
	brief bool           // the connection is a POST to a listener
	post  *postRecording // the POST that is being recorded, or nil
	lanes *lanes         // the lanes of a recording that POSTs share, or nil
}

// record begins to record a connection. open describes the connection. server is set if rpcx is the server.
func (o Options) record(open tape.Open, server bool) recording {
	if o.Record == nil {
		return recording{}
	}
	return recording{to: o.Record.Conn(open, server)}
}

// conn returns the recorder of the connection. If nothing is recorded, it returns one that does nothing.
func (r recording) conn() *recorder.Conn {
	if r.to == nil {
		return new(recorder.Conn)
	}
	return r.to
}

// tap returns a tap that records each message and then calls next.
func (r recording) tap(next wire.Tap) wire.Tap {
	switch {
	case r.to == nil:
		return next
	case r.post != nil:
		return both(r.post.message, next)
	}
	return both(r.to.Message, next)
}

// messages returns a wire.Record that records a peer's messages, or nil if nothing is recorded.
func (r recording) messages() wire.Record {
	switch {
	case r.to == nil:
		return nil
	case r.post != nil:
		return r.post.messages
	}
	return r.to.Messages
}

// failed records that connecting failed.
func (r recording) failed(err error) {
	if r.to != nil {
		r.to.Ended(wire.Recv, err)
	}
}

// ended must be called before rpcx closes p's connection. It determines which side has ended the connection. The
// returned function writes the end to the tape. It must be called after the last message.
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

// httpOf converts x to the form that tapes use. now is the time since the tape began.
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

// headerLines returns the lines of a header, redacted and sorted by name.
func headerLines(header http.Header) (lines [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			if name == "Origin" { // its value identifies the page that the user visits
				value = redact.Mark
			}
			lines = append(lines, [2]string{name, redact.Header(name, value)})
		}
	}
	return lines
}

// both returns a tap that calls first and then second. second may be nil.
func both(first, second wire.Tap) wire.Tap {
	if second == nil {
		return first
	}
	return func(d wire.Direction, msg []byte) {
		first(d, msg)
		second(d, msg)
	}
}

// inTurn returns a Record that calls first and then second. Each of them may be nil.
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

// end returns a function that records the end of p's connection. If the connection has already ended, the peer has
// ended it; otherwise rpcx ends it.
func end(rec *recorder.Conn, p *peer.Peer) func() {
	if !wire.IsClosed(p.Done()) {
		return func() { rec.Ended(wire.Send, nil) }
	}
	err := p.Err()
	return func() { rec.Ended(wire.Recv, err) }
}

// record begins to record a connection to s, if s has a recorder. All POSTs to a listener share one connection on the
// tape, which has no end.
func (s *Server) record(conn wire.Conn) recording {
	open := tape.Open{Endpoint: s.Endpoint()}
	if _, post := conn.(wire.SingleExchange); !post {
		return s.options.record(open, true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posted.to == nil {
		s.posted = shared(s.endpoint.Spec().Shape(), func() recording {
			rec := s.options.record(open, true)
			rec.lasts = true
			return rec
		})
	}
	return s.posted
}

// A postRecording records one POST to a listener. On the tape, the HTTP exchange precedes the messages of the response,
// as it does when a client records. These messages are therefore queued until the exchange is known.
type postRecording struct {
	recording
	answers wire.Direction // the direction of the response's messages

	mu       sync.Mutex
	recorded bool
	held     [][]byte
	free     func() // ends the use of the lane; nil if there is none
}

// shared begins a recording that POSTs share.
func shared(shape dialect.Shape, open func() recording) recording {
	all := newLanes(shape, open)
	rec := all.first()
	rec.lanes = all
	return rec
}

// message implements wire.Tap.
func (a *postRecording) message(d wire.Direction, msg []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d == a.answers && !a.recorded {
		a.held = append(a.held, bytes.Clone(msg))
		return
	}
	if d != a.answers && a.free == nil && a.lanes != nil {
		var rec recording
		rec, a.free = a.lanes.take(msg)
		a.to = rec.to
	}
	a.to.Message(d, msg)
}

// messages implements wire.Record.
func (a *postRecording) messages(d wire.Direction, msg []byte, more ...[]byte) {
	a.message(d, msg)
	for _, msg := range more {
		a.message(d, msg)
	}
}

// exchange records the HTTP exchange, and then the messages that are queued.
func (a *postRecording) exchange(x transport.Exchange) {
	a.mu.Lock()
	rec := a.recording
	a.mu.Unlock()
	rec.exchanged(nil)(x)
	a.over()
}

// over records the messages that are queued.
func (a *postRecording) over() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.recorded = true
	for _, msg := range a.held {
		a.to.Message(a.answers, msg)
	}
	a.held = nil
}

// An exchangeReporter is a Conn that reports its HTTP exchange.
type exchangeReporter interface {
	OnExchange(tell func(transport.Exchange))
}

// from also records the HTTP exchange of conn, if it has one. answers is the direction of the response's messages, as
// the tap sees it.
func (r recording) from(conn wire.Conn, answers wire.Direction) recording {
	by, ok := conn.(exchangeReporter)
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

// answered records that the POST, if any, has no further messages.
func (r recording) answered() {
	if r.post == nil {
		return
	}
	r.post.over()
	r.post.mu.Lock()
	defer r.post.mu.Unlock()
	if r.post.free != nil {
		r.post.free()
	}
}
