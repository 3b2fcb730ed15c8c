package dialect

import "rpcx/wire"

// A Shape says, as data, how the messages of a dialect are told apart where no
// conversation is at hand (on a tape), and which of their values one side made
// up: those differ in every conversation, and are carried over from one to the
// other.
type Shape struct {
	Method string // the member that names what a message asks for or tells: "method", "type"
	ID     string // the member that a request and what answers it share: "id"

	// Typed says that answers have a Method, too: what a server sends with an ID
	// answers the request that has it. Else an answer is what has no Method.
	Typed bool
	// Mute are the methods of a Typed dialect that are never answered, though they
	// have an ID.
	Mute []string

	// Own reads and renumbers messages whose members have names of their own; nil: they have
	// those above, and result and error.
	Own OwnShape

	// Arrays says that an array is one message, and none is several.
	Arrays bool

	// Unnumbered reads messages that have no ids, for people who look at a tape: a request and
	// each answer to it, an Item if more follow, have the id null, and are joined in their order. nil: there
	// are ids.
	Unnumbered func(msg []byte) wire.Message

	// Error is an error that answers a request: a message in which $id, $code (an
	// integer), $message (a string) and $data (an object) stand for values.
	Error string

	// Streams are the members of an item's params that say which stream it belongs
	// to. A result that is such a value is made up, whatever the method.
	Streams []string

	// Ends says where a request names the stream that it ends; Ended is the answer to
	// it, in which $id stands for a value. "": none is ended by a request.
	Ends  []Place
	Ended string

	MadeUp []Place // ids, tokens, streams, sessions: not compared, and carried over
	Varies []Place // versions and names of programs, measurements: not compared
}

// A Place says where a value stands in the messages of a dialect.
type Place struct {
	// Method is that of the request or notification; an answer has that of its
	// request. A "*" at an end takes what is there. "": every one.
	Method string
	// Pointer is a JSON pointer, in which "*" stands for one name or index and
	// "**" for any number of them.
	Pointer string
}

// Places makes a Place of each pointer, in all messages.
func Places(pointers ...string) []Place {
	places := make([]Place, len(pointers))
	for i, p := range pointers {
		places[i].Pointer = p
	}
	return places
}

// An OwnShape tells the messages of a dialect apart that spells them in a way of its own.
type OwnShape interface {
	// Read returns what a message is: a Request, a Notification, a Response, or Invalid. Its parts
	// are parts of msg.
	Read(msg []byte) wire.Message
	// SetID returns msg with another id.
	SetID(msg []byte, id wire.ID) []byte
}
