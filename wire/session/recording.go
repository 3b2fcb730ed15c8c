package session

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"rpcx/wire"
	"rpcx/wire/peer"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/transport"
)

// A recording records one connection; the zero value records nothing.
type recording struct {
	to    *recorder.Conn // nil: it is not
	lasts bool           // it has no end
	brief bool           // it is one POST to a listener of ours, of whose end nobody is told
	post  *postRecording // the POST that it is; nil: it is none, or is not recorded
}

// record begins to record a connection. open says how it comes about, server that we
// are its server.
func (o Options) record(open tape.Open, server bool) recording {
	if o.Record == nil {
		return recording{}
	}
	return recording{to: o.Record.Conn(open, server)}
}

// conn returns what the connection is recorded by, which does nothing where it is not.
func (r recording) conn() *recorder.Conn {
	if r.to == nil {
		return new(recorder.Conn)
	}
	return r.to
}

// tap returns next with the messages recorded, too.
func (r recording) tap(next wire.Tap) wire.Tap {
	switch {
	case r.to == nil:
		return next
	case r.post != nil:
		return both(r.post.message, next)
	}
	return both(r.to.Message, next)
}

// messages returns what records the messages of a peer; nil: nothing does.
func (r recording) messages() wire.Record {
	switch {
	case r.to == nil:
		return nil
	case r.post != nil:
		return r.post.messages
	}
	return r.to.Messages
}

// failed notes that there is no connection.
func (r recording) failed(err error) {
	if r.to != nil {
		r.to.Ended(wire.Recv, err)
	}
}

// ended notes which side ended p's connection, before it is closed here. The
// function that it returns writes that end to the tape, after what is still said in
// closing.
func (r recording) ended(p *peer.Peer) (note func()) {
	if r.to == nil || r.lasts {
		return func() {}
	}
	return end(r.to, p)
}

// exchanged returns what transport.Config.Exchanged is told; nil: nothing is
// recorded.
func (r recording) exchanged() func(transport.Exchange) {
	if r.to == nil {
		return nil
	}
	return func(x transport.Exchange) { r.to.HTTP(httpOf(x, r.to.Elapsed())) }
}

// noise returns next with the lines of a child recorded that are no messages.
func (r recording) noise(next func(line []byte)) func(line []byte) {
	if r.to == nil {
		return next
	}
	return r.to.Noise(next)
}

// httpOf returns x as a tape has it. now is the time since the tape's start.
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
			if redact.SecretName(name) {
				value = tape.Redacted
			}
			lines = append(lines, [2]string{name, value})
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

// end returns a function that notes the end of p's connection, as the peer's if it
// has ended already.
func end(rec *recorder.Conn, p *peer.Peer) func() {
	select {
	case <-p.Done():
		err := p.Err()
		return func() { rec.Ended(wire.Recv, err) }
	default:
		return func() { rec.Ended(wire.Send, nil) }
	}
}

// record begins to record a connection to s, where that was asked for. The POSTs to a
// listener are one connection, which has no end.
func (s *Server) record(conn wire.Conn) recording {
	open := tape.Open{Endpoint: s.Endpoint()}
	if _, post := conn.(wire.OneShot); !post {
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
