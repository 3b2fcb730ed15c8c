package dialect

import "rpcx/wire"

// A Shape describes, as data, how to read the messages of a dialect outside of a conversation (on a tape): the kind of
// a message, and the values in it that one side has assigned, such as ids. Assigned values differ in every
// conversation, and are translated when a tape is played.
type Shape struct {
	Method string // the member with the name of a message: "method", "type"
	Event  string // a member that names an event instead of Method, or ""
	ID     string // the member that a request and its answers share: "id"

	// Typed reports that answers also have a Method. A message of the server with an ID then answers the request with
	// that ID. Otherwise a message without a Method is an answer.
	Typed bool
	// Mute lists the methods of a Typed dialect that never have an answer, even with an ID.
	Mute []string

	// Own reads and renumbers messages if the dialect's members have other names. It is nil for the members above,
	// result and error.
	Own OwnShape

	// Arrays reports that an array is a single message, never a batch.
	Arrays bool

	// Unnumbered reads messages without ids, for people who read a tape. A request and its answers (an Item if more
	// follow) get the id null and are paired in order. It is nil if messages have ids.
	Unnumbered func(msg []byte) wire.Message

	// Error is the template of an error response, in which $id, $code (an integer), $message (a
	// string) and $data (an object) stand for values.
	Error string

	// Streams are the members of an item's params that name its stream. A result that equals the value of such a member
	// counts as assigned, for any method.
	Streams []string

	// Ends is the place where a request names the stream that it ends. Ended is the template of its response, in which
	// $id stands for the id. "" means that no request ends a stream.
	Ends  []Place
	Ended string
	// EndsNamed lists the methods that end a stream without its id: the params contain a string that is the method of the
	// stream's items or occurs in their params.
	EndsNamed []string

	MadeUp []Place // ids, tokens, streams and sessions, which are not compared but carried over
	Varies []Place // versions and names of programs, and measurements, which are not compared
	Polls  []Poll
	// Discovery are methods that a client omits if it knows the catalog from an earlier conversation.
	Discovery []string
}

// A Poll is a request that a client repeats until a job has ended. The number of repetitions and the reported progress depend on the
// duration of the job, so only the response that reports the end of the job is compared.
type Poll struct {
	Method  string
	Job     string   // the JSON pointer to the job's name in the request
	State   string   // the JSON pointer to the job's state in the response
	Running []string // the states of a job that has not ended
}

// A Place is a location in the messages of a dialect.
type Place struct {
	// Method is the method of the request or notification or, for an answer, of its request. A "*" at either end
	// matches any text. "" matches every message.
	Method string
	// Pointer is a JSON pointer, in which "*" stands for one name or index and
	// "**" for any number of them.
	Pointer string
}

// Places returns a Place in all messages for each pointer.
func Places(pointers ...string) []Place {
	places := make([]Place, len(pointers))
	for i, p := range pointers {
		places[i].Pointer = p
	}
	return places
}

// An OwnShape reads the messages of a dialect whose member names differ from JSON-RPC's.
type OwnShape interface {
	// Read returns the kind of a message: a Request, a Notification, a Response, or Invalid. Its slices are parts of
	// msg.
	Read(msg []byte) wire.Message
	// SetID returns msg with another id.
	SetID(msg []byte, id wire.ID) []byte
}
