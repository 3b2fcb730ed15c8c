package dialect

import (
	"encoding/json"

	"rpcx/wire/catalog"
)

// Always is a Cancels for every framing.
func Always(string) bool { return true }

// Bridging describes how a bridge offers methods of another dialect in this one, and calls methods of this one from
// another ("A bridge" in rpcx-endpoints(7)). The zero value is right for most dialects.
type Bridging struct {
	// Name returns a name by which this dialect can offer a method of another. nil means that any name is allowed.
	Name func(method string) string
	// Described reports that a client finds the true name of a method that Name has changed in the method's
	// description.
	Described bool
	// Alone reports whether a method of a catalog of this dialect can be called by its name alone, without an object.
	// nil means that every method can.
	Alone func(m *catalog.Method) bool
	// ByPosition reports that methods whose params the catalog does not describe also take positional arguments. If a
	// listener's params are objects, these are the member args.
	ByPosition bool
	// Plain converts the params of a request to this dialect's server to the form of other dialects. If it is nil, they
	// are passed on in the form for hooks. The error answers a request whose params no other dialect can express.
	Plain func(params json.RawMessage) (json.RawMessage, error)
	// Same returns the call of a peer of this dialect for a request to this dialect's server. nil means that both have
	// the same method and params.
	Same func(name string, params json.RawMessage) (method string, same json.RawMessage)
	// Fields splits a request's params into extra top-level members for a peer of this dialect, and the rest. nil means
	// that there are no such members.
	Fields func(params json.RawMessage) (extra, rest json.RawMessage)

	// Told reports whether a notification that arrives during a call belongs to that call, as its progress or its log.
	// The bridge then forwards it as such. nil means that no notification does.
	Told func(method string) bool
	// Own lists the methods of the handshake. Each connection has its own, and they are never forwarded.
	Own []string
	// Greets reports that clients begin the handshake of this dialect, which then calls Greeted of its Responder.
	Greets    bool
	NoStreams bool // a server of this dialect answers a call with one value
	// Whole reports whether a server of this dialect answers a call of the method with one value. nil means as NoStreams.
	Whole   func(method string) bool
	Objects bool // params are an object
	Endless bool // a method that streams may never end
	// Streams reports whether a method of unknown kind opens a stream, and whether that stream may never end. nil means
	// that no method does.
	Streams   func(method string) (streams, endless bool)
	TextCodes bool // the code of an error is a string
	// Cancels reports whether a client can cancel a call, so that it ends at the server. nil means that it cannot.
	Cancels  func(framing string) bool
	Progress bool // messages of this dialect carry the progress of a call
	Calls    bool // all messages of this dialect belong to calls: it has no notifications
}
