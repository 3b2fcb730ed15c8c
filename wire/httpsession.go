package wire

import (
	"errors"
	"net/http"
)

// An HTTPSession is an Exchanger whose exchanges can belong to one session of the peer
// (the Model Context Protocol's streamable HTTP).
type HTTPSession interface {
	// SetHeader adds a header to all further exchanges.
	SetHeader(name, value string)
	// Mirror adds to each further exchange the headers that headers returns for its message. A server that gets such headers
	// is never taken for one of the older HTTP with SSE.
	Mirror(headers func(msg []byte) map[string]string)
	// ReadEvents starts reading the event stream with messages outside of exchanges, if the server has one; Recv
	// returns the messages. over is called when that stream has ended for good, or at once if there is none.
	ReadEvents(over func())
	// EndByDelete makes Close end the server's session with an HTTP DELETE.
	EndByDelete()
}

// An HTTPName is a header by which an HTTP server recognises a client. A response contains it, and every later request
// repeats it.
type HTTPName struct {
	Header string // "": Mcp-Session-Id
	// Again is the status of a response that only carries the header. The message is then sent once more, with the
	// header. 0 for none.
	Again int
}

// HTTPGets maps paths to functions that answer a GET of an HTTP listener with JSON. at is the URL of its WebSocket.
type HTTPGets map[string]func(at string) ([]byte, error)

// ErrSessionLost is the cause of an Exchange's Fault if the server no longer knows the session. The server has not
// accepted the message, and the next exchange has no session.
var ErrSessionLost = errors.New("the session is over")

// HTTPSessions describes how a dialect's HTTP exchanges form sessions. Each session is its own Conn, which is a Router.
type HTTPSessions struct {
	Header string // names the session in its exchanges, and in the answer that begins it
	// Begins reports whether a message begins a session, and whether the client accepts event streams that begin with
	// an empty event (with which they can be resumed from the start).
	Begins func(msg []byte) (begins, primes bool)
	// Values lists the accepted values of some headers. A request with another value is refused. Headers that are not
	// listed, or not sent, are not checked.
	Values map[string][]string
	// Posts has rules for POSTs outside of sessions, or is nil.
	Posts *HTTPPosts
}

// WithPosts returns s with rules for POSTs outside of sessions. If s is nil there are no sessions.
func (s *HTTPSessions) WithPosts(posts *HTTPPosts) *HTTPSessions {
	if posts == nil {
		return s
	}
	with := HTTPSessions{Begins: func([]byte) (begins, primes bool) { return false, false }}
	if s != nil {
		with = *s
	}
	with.Posts = posts
	return &with
}

// HTTPPosts has a dialect's rules for POSTs that belong to no session, although they may have its header.
type HTTPPosts struct {
	// Check reports whether the rules apply to a POST. The error is the response to a POST that is rejected with 400.
	Check func(h http.Header, msg []byte) (own bool, err *Error)
	// Status returns the HTTP status of an error response, by its code.
	Status func(code string) int
}

// An Identified Conn knows the identity that its client has proved with credentials.
type Identified interface{ Identity() string }

// A Router is a Conn whose peer reads several streams. Each message is sent on one of them. An answer goes to the
// stream of its request.
type Router interface {
	// SendAbout sends a message that is not a response but belongs to the peer's request with that id. It is sent on
	// that request's stream while the stream is open.
	SendAbout(request ID, msg []byte) error
	// NoAnswer reports that the peer's request with that id will get no answer.
	NoAnswer(request ID)
}
