package session

import (
	"bytes"
	"errors"
	"io"
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

// A recording writes one connection to a tape. The zero value records nothing.
type recording struct {
	to   *recorder.Conn // nil if nothing is recorded, or if post is set
	post *postRecording // the POST that is being recorded, or nil
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

// messages returns a wire.Record that records a peer's messages, or nil if nothing is recorded.
func (r recording) messages() wire.Record {
	switch {
	case r.post != nil:
		return r.post.messages
	case r.to != nil:
		return r.to.Messages
	}
	return nil
}

// failed records that connecting failed.
func (r recording) failed(err error) { r.conn().Ended(wire.Recv, err) }

// close closes p's connection. It records, and tells watch, which side was the first to end the connection.
// who is the name of the client, on a listener.
func (r recording) close(p *peer.Peer, watch *transport.Watch, who string) error {
	err := p.Close()
	if p.Connection().SingleExchange { // the connection that POSTs share on the tape has no end
		if r.post != nil {
			r.post.end()
		}
		return err
	}
	side, text := wire.Send, "rpcx closed the connection"
	how := p.PeerEnd()
	if how != nil {
		side, text = wire.Recv, "the peer closed the connection"
	}
	if now := p.Err(); now != nil && !errors.Is(now, io.EOF) { // the connection may have ended just now
		text = "the connection has ended: " + now.Error()
	}
	watch.Tell(wire.Fact{Step: "closed", Text: text, Who: who})
	r.conn().Ended(side, how)
	return err
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

// record begins to record a connection to s, if s has a recorder. All POSTs to a listener share connections on the tape.
func (s *Server) record(conn wire.Conn) recording {
	open := tape.Open{Endpoint: s.Endpoint()}
	if _, post := conn.(wire.SingleExchange); !post || s.options.Record == nil {
		return s.options.record(open, true).from(conn)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posted == nil {
		s.posted = newLanes(s.endpoint.Spec().Shape(), func() *recorder.Conn { return s.options.Record.Conn(open, true) })
	}
	return recording{post: s.posted.post(conn, wire.Send)}
}

// from also records the HTTP exchanges of conn, if it has any.
func (r recording) from(conn wire.Conn) recording {
	if by, ok := conn.(exchangeReporter); ok && r.to != nil {
		by.OnExchange(r.exchanged(nil))
	}
	return r
}

// An exchangeReporter is a Conn that reports its HTTP exchanges.
type exchangeReporter interface {
	OnExchange(tell func(transport.Exchange))
}

// A postRecording records one POST and its response. On the tape, the HTTP exchange precedes the messages of the
// response, as it does when a client records. These messages are therefore queued until the exchange is known.
type postRecording struct {
	answers wire.Direction              // the direction of the response's messages
	session func(*http.Response) *lanes // returns the lanes of the session that a response names; nil if lanes is set at first

	mu      sync.Mutex
	lanes   *lanes         // the lanes of the session; nil while the session is unknown
	to      *recorder.Conn // nil until it has been chosen
	free    func()         // ends the use of to
	request []byte         // the message of the request, which is queued while the session is unknown
	known   bool           // the exchange is on the tape
	queue   [][]byte       // the messages of the response that are queued
}

// message implements wire.Tap.
func (p *postRecording) message(d wire.Direction, msg []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case d == p.answers && !p.known:
		p.queue = append(p.queue, bytes.Clone(msg))
	case d == p.answers:
		p.to.Message(d, msg)
	case p.lanes == nil:
		p.request = bytes.Clone(msg)
	default:
		p.choose(nil, msg)
		p.to.Message(d, msg)
	}
}

// messages implements wire.Record.
func (p *postRecording) messages(d wire.Direction, msg []byte, more ...[]byte) {
	p.message(d, msg)
	for _, msg := range more {
		p.message(d, msg)
	}
}

// exchange records the HTTP exchange, and then the messages that are queued.
func (p *postRecording) exchange(x transport.Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.choose(x.Response, nil)
	Exchanged(p.to)(x)
	p.flush()
}

// choose chooses a connection on the tape, unless that has been done, and records the queued request. response, which
// may be nil, and the message of the request determine the choice. The caller holds the lock.
func (p *postRecording) choose(response *http.Response, msg []byte) {
	if p.to != nil {
		return
	}
	if p.lanes == nil {
		p.lanes, msg = p.session(response), p.request
	}
	p.to, p.free = p.lanes.take(msg)
	if p.request != nil {
		p.to.Message(1-p.answers, p.request)
		p.request = nil
	}
}

// flush records the messages that are queued. The caller holds the lock.
func (p *postRecording) flush() {
	p.known = true
	for _, msg := range p.queue {
		p.to.Message(p.answers, msg)
	}
	p.queue = nil
}

// end must be called when the POST has ended.
func (p *postRecording) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 {
		p.choose(nil, nil)
		p.flush()
	}
	if p.free != nil {
		p.free()
	}
}

// note records a note that concerns the POST.
func (p *postRecording) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.to != nil {
		p.to.Note(text)
	}
}
