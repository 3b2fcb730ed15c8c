package wire

import (
	"errors"
	"net/http"
)

// An HTTPSession is an Exchanger whose exchanges can belong to a session on the peer (the streamable HTTP of the Model
// Context Protocol).
type HTTPSession interface {
	// SetHeader adds a header to all later exchanges.
	SetHeader(name, value string)
	// Mirror adds to each later exchange the headers that headers returns for its message. For an exchange with such
	// headers, rpcx never falls back to the older transport, HTTP with SSE.
	Mirror(headers func(msg []byte) map[string]string)
	// ReadEvents starts to read the server's event stream, if it has one, for messages outside of exchanges. Recv
	// returns these messages. over is called when the stream has ended for good, or at once if there is none.
	ReadEvents(over func())
	// EndByDelete makes Close end the session with an HTTP DELETE.
	EndByDelete()
}

// An HTTPName describes the header that identifies a client to an HTTP server. A response contains it, and the client
// repeats it in every later request.
type HTTPName struct {
	Header string // Mcp-Session-Id by default
	// Again is the status of a response that carries only the header. The client then sends the message again with the
	// header. 0 means none.
	Again int
}

// HTTPGets maps paths of an HTTP listener to functions that return the JSON response to a GET. at is the URL of the
// listener's WebSocket.
type HTTPGets map[string]func(at string) ([]byte, error)

// ErrSessionLost is the cause of the Fault that Exchange returns if the server no longer has the session. The server
// has not accepted the message, and the next exchange has no session.
var ErrSessionLost = errors.New("the session has ended")

// HTTPSessions describes how a dialect's HTTP exchanges form sessions. Each session is a separate Conn, which is a
// Router.
type HTTPSessions struct {
	Header string // the header that names the session, in its exchanges and in the response that starts it
	// Begins reports whether a message starts a session, and whether the client accepts event streams that begin with
	// an empty event, from which they can be resumed.
	Begins func(msg []byte) (begins, primes bool)
	// Values lists the accepted values of some headers. A request with another value is refused. Other headers, and
	// missing ones, are not checked.
	Values map[string][]string
	// Posts holds the rules for POSTs outside of sessions, or is nil.
	Posts *HTTPPosts
}

// WithPosts returns s with rules for POSTs outside of sessions. s is nil if there are no sessions.
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

// HTTPPosts are a dialect's rules for POSTs outside of sessions, which can still have a session's header.
type HTTPPosts struct {
	// Check reports whether the rules apply to a POST. Its error is the response to a rejected POST, with status 400.
	Check func(h http.Header, msg []byte) (own bool, err *Error)
	// Status returns the HTTP status of an error response with that code.
	Status func(code string) int
}

// An Identified is a Conn whose client has proved its identity.
type Identified interface{ Identity() string }

// A Router is a Conn whose peer reads several streams. It sends each message on one stream, and a response on the
// stream of its request.
type Router interface {
	// SendAbout sends a message that belongs to the peer's request with that id but is not its response. It uses that
	// request's stream while the stream is open.
	SendAbout(request ID, msg []byte) error
	// NoAnswer reports that the peer's request with that id gets no response.
	NoAnswer(request ID)
}
