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
	// ReadEvents begins to read the event stream with messages outside of exchanges, if the server has one; Recv returns
	// them. over is called when that stream has ended for good, or at once if there is none.
	ReadEvents(over func())
	// EndByDelete makes Close tell the server that the session is over, with an HTTP DELETE.
	EndByDelete()
}

// An HTTPName is how an HTTP server recognises a client: by a header that was in an answer and is
// sent back with every later request.
type HTTPName struct {
	Header string // "": Mcp-Session-Id
	// Again is the status of a response that only brings the header; the message is then sent again with it, once. 0
	// means none.
	Again int
}

// HTTPGets holds functions by path, which answer a GET of an HTTP listener with JSON; at is the URL
// of its WebSocket.
type HTTPGets map[string]func(at string) ([]byte, error)

// ErrSessionLost is the cause of an Exchange's Fault if the server does not know the session any
// more. It has not accepted the message, and the next exchange has no session.
var ErrSessionLost = errors.New("the session is over")

// HTTPSessions describe how a dialect's HTTP exchanges form sessions. Each session is a Conn of its
// own, which is a Router.
type HTTPSessions struct {
	Header string // names the session in its exchanges, and in the answer that begins it
	// Begins reports whether a message begins a session, and whether the client takes event
	// streams that begin with an empty event (with which they can be resumed from the start).
	Begins func(msg []byte) (begins, primes bool)
	// Values are the accepted values of some headers; a request with another value is refused.
	// Headers that are not listed, or not sent, are not checked.
	Values map[string][]string
	// Posts are rules for POSTs outside of sessions; nil: none.
	Posts *HTTPPosts
}

// WithPosts returns s with rules for POSTs outside of sessions. s may be nil.
func (s *HTTPSessions) WithPosts(posts *HTTPPosts) *HTTPSessions {
	if s == nil || posts == nil {
		return s
	}
	with := *s
	with.Posts = posts
	return &with
}

// HTTPPosts are a dialect's rules for POSTs that belong to no session, although they may have its header.
type HTTPPosts struct {
	// Check reports whether the rules apply to a POST. The error is the response to one that is rejected with 400.
	Check func(h http.Header, msg []byte) (own bool, err *Error)
	// Status returns the HTTP status of an error response, by its code.
	Status func(code string) int
}

// An Identified Conn knows who its client has shown to be, by credentials.
type Identified interface{ Identity() string }

// A Router is a Conn whose peer reads several streams. Each message is sent on one of them: an
// answer on the stream of its request.
type Router interface {
	// SendAbout sends a message that is not a response but belongs to the peer's request with that id. It is sent on the
	// stream of that request as long as that is open.
	SendAbout(request ID, msg []byte) error
	// NoAnswer says that the peer's request with that id will get no answer.
	NoAnswer(request ID)
}
