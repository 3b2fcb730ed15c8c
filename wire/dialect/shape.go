package dialect

import "rpcx/wire"

// A Shape describes how to read a dialect's messages outside of a conversation, for example on a tape. It determines
// the kind of a message and the values that one side has assigned, such as ids. Assigned values differ in every
// conversation, so a player translates them.
type Shape struct {
	Method string // the member with the name of a message: "method", "type"
	Event  string // the member with the name of an event in place of Method, or ""
	ID     string // the member that a request and its responses share, such as "id"

	// Typed reports that responses also have a Method. In that case, a message of the server with an ID answers the
	// request with that ID. Otherwise, a message without a Method is a response.
	Typed bool
	// Mute lists the methods of a Typed dialect that have no response, even with an ID.
	Mute []string

	// Own reads and renumbers messages whose members have other names. It may be nil.
	Own OwnShape

	// Arrays reports that an array is one message, never a batch.
	Arrays bool

	// Unnumbered reads messages without ids, for the display of a tape. A request and its responses (Items, if more
	// follow) get the id null and are paired in order. It is nil for messages with ids.
	Unnumbered func(msg []byte) wire.Message

	// Error is the template of an error response. It contains $id, $code (an integer), $message (a string) and $data
	// (an object).
	Error string

	// Streams are the members of an item's params that name its stream. The value of such a member in the result of any
	// method is an assigned value.
	Streams []string

	// Ends is the place in a request that names the stream to end. Ended is the template of the response, with $id for
	// the id. Without Ends, no request ends a stream.
	Ends  []Place
	Ended string
	// EndsNamed lists methods that end a stream without its id. Their params contain a string that is the method of the
	// stream's items or occurs in the items' params.
	EndsNamed []string

	MadeUp []Place // ids, tokens, streams and sessions, which are mapped instead of compared
	Varies []Place // versions and names of programs, and measurements, which are not compared
	Polls  []Poll
	// Discovery lists methods that a client omits if it knows the catalog from an earlier conversation.
	Discovery []string
}

// A Poll is a request that a client repeats until the end of a job. Only the response that reports the job's end is compared,
// because the number of requests and the reported progress depend on the job's duration.
type Poll struct {
	Method  string
	Job     string   // the JSON pointer to the job's name in a request
	State   string   // the JSON pointer to the job's state in a response
	Running []string // the states of a job that has not ended
}

// A Place is a place in a dialect's messages.
type Place struct {
	// Method is the method of the request or notification. For a response, it is the method of the request. A "*" at
	// either end matches any text. "" matches every message.
	Method string
	// Pointer is a JSON pointer in which "*" matches one name or index, and "**" any number of them.
	Pointer string
}

// Places returns, for each pointer, a Place in every message.
func Places(pointers ...string) []Place {
	return wire.Map(pointers, func(p string) Place { return Place{Pointer: p} })
}

// An OwnShape reads messages whose members have other names than JSON-RPC's.
type OwnShape interface {
	// Read returns the kind of a message: a Request, a Notification, a Response, or Invalid. Its slices refer to msg.
	Read(msg []byte) wire.Message
	// SetID returns msg with a new id.
	SetID(msg []byte, id wire.ID) []byte
}
