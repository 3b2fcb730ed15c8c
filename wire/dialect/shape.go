package dialect

import "rpcx/wire"

// A Shape describes, as data, how to read the messages of a dialect without having seen the
// conversation (on a tape): what kind a message is, and which of its values one side has made up,
// such as ids. Made-up values differ in every conversation and are translated when a tape is
// played.
type Shape struct {
	Method string // the member with the name of a message: "method", "type"
	Event  string // a member that names an event in place of Method; "" means there is none
	ID     string // the member that a request and what answers it share: "id"

	// Typed says that answers have a Method, too. A message of the server with an ID then answers
	// the request with that ID. Otherwise a message without a Method is an answer.
	Typed bool
	// Mute lists the methods of a Typed dialect that are never answered although they have an ID.
	Mute []string

	// Own reads and renumbers messages if the dialect's members have other names, or nil if they are the members above,
	// and result and error.
	Own OwnShape

	// Arrays says that an array is a single message and never a batch.
	Arrays bool

	// Unnumbered reads messages that have no ids, for people who look at a tape: a request and each
	// answer to it (an Item if more follow) get the id null, and are paired in their order. nil:
	// messages have ids.
	Unnumbered func(msg []byte) wire.Message

	// Error is the template of an error response, in which $id, $code (an integer), $message (a
	// string) and $data (an object) stand for values.
	Error string

	// Streams are the members of an item's params that name its stream. A result that equals such a value counts as
	// generated, whatever the method.
	Streams []string

	// Ends is where a request names the stream that it ends; Ended is the template of its response, in which $id stands
	// for the id. "" means no request ends a stream.
	Ends  []Place
	Ended string

	MadeUp []Place // ids, tokens, streams, sessions: not compared, and carried over
	Varies []Place // versions and names of programs, measurements: not compared
}

// A Place is where messages of a dialect contain a value.
type Place struct {
	// Method is that of the request or notification, and of the request that an answer answers. A
	// "*" at either end matches any text there. "" matches every message.
	Method string
	// Pointer is a JSON pointer, in which "*" stands for one name or index and
	// "**" for any number of them.
	Pointer string
}

// Places returns a Place for each pointer, in all messages.
func Places(pointers ...string) []Place {
	places := make([]Place, len(pointers))
	for i, p := range pointers {
		places[i].Pointer = p
	}
	return places
}

// An OwnShape reads the messages of a dialect whose members have other names than JSON-RPC's.
type OwnShape interface {
	// Read returns what a message is: a Request, a Notification, a Response, or Invalid. Its slices
	// are parts of msg.
	Read(msg []byte) wire.Message
	// SetID returns msg with another id.
	SetID(msg []byte, id wire.ID) []byte
}
