package wire

import "errors"

// An HTTPSession is an Exchanger whose exchanges can belong to one session of the far
// side (the Model Context Protocol's streamable HTTP).
type HTTPSession interface {
	// SetHeader has each exchange from here on carry a header.
	SetHeader(name, value string)
	// ReadEvents begins to read what the far side says outside of exchanges, where it
	// has an event stream for that; Recv returns it. over is called when no more of it will
	// come, at once where there is none.
	ReadEvents(over func())
	// EndByDelete has Close tell the far side that the session is over.
	EndByDelete()
}

// An HTTPName is how an HTTP server knows its client: by a header whose value, once it was in an
// answer, goes with every request from then on.
type HTTPName struct {
	Header string // "": Mcp-Session-Id
	// Again is the status of an answer that only brings the header: the message is sent again
	// with it, once. 0: there is none.
	Again int
}

// HTTPGets answer a GET of a path of an HTTP listener, each with JSON; at is the URL of its WebSocket.
type HTTPGets map[string]func(at string) ([]byte, error)

// ErrSessionLost is the cause of a Fault of an Exchange: the far side knows nothing of the
// session any more, and has not taken the message. The next exchange has no session.
var ErrSessionLost = errors.New("the session is over")

// HTTPSessions say how exchanges with an HTTP server are sessions, as a dialect has it:
// each is a Conn of its own, which is a Router.
type HTTPSessions struct {
	Header string // names the session in its exchanges, and in the answer that begins it
	// Begins reports whether a message begins a session, and whether the client takes event
	// streams that begin with an empty event (with which they can be resumed from the start).
	Begins func(msg []byte) (begins, primes bool)
	// Values are the values of headers that are taken; a request with another one is
	// refused. A header that is not named, or not sent, is not looked at.
	Values map[string][]string
}

// A Router is a Conn whose far side reads several streams, on one of which each message
// goes out: an answer on that of its request.
type Router interface {
	// SendAbout is Send of a message that is no answer, but belongs to the far side's
	// request of that id. It goes out on the stream of that request, while there is one.
	SendAbout(request ID, msg []byte) error
	// NoAnswer says that the far side's request of that id gets no answer.
	NoAnswer(request ID)
}
