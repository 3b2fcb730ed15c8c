package dialect

import (
	"encoding/json"

	"rpcx/wire/catalog"
)

// Bridging says how methods of another dialect are offered in this one, and methods
// of this one are called from another ("A bridge" in rpcx-endpoints(7)). The zero value
// is what most dialects are.
type Bridging struct {
	// Name returns a name by which this dialect can offer a method of another; nil: any
	// name can be offered.
	Name func(method string) string
	// Described says that descriptions are where a client finds the true name of a method
	// that Name has changed.
	Described bool
	// Alone reports whether a method of a catalog of this dialect can be called by its
	// name alone, without an object that it belongs to; nil: each can.
	Alone func(m *catalog.Method) bool
	// Plain returns the params of a request to this dialect's server as another dialect
	// has them; nil: as hooks get them.
	Plain func(params json.RawMessage) json.RawMessage
	// Fields returns the members of a request beside its method and params that a peer
	// of this dialect takes, and the params without them; nil: there are none.
	Fields func(params json.RawMessage) (extra, rest json.RawMessage)

	// Told reports whether a notification belongs to a call while one runs, as its progress
	// or its log: then it crosses as that. nil: none does.
	Told func(method string) bool
	// Own are the methods of the greeting: they are between two peers, and never pass.
	Own []string
	// Greets says that a server of this dialect is greeted, and calls Greeted on a Responder
	// that has it (see Greeted).
	Greets    bool
	NoStreams bool // a server of this dialect answers a call with one value
	Objects   bool // params are an object
	Endless   bool // a method that streams may go on for ever
	// Streams reports whether a method of which a peer of this dialect does not say what it is opens a
	// stream, and whether that may go on for ever; nil: none does.
	Streams   func(method string) (streams, endless bool)
	TextCodes bool // the code of an error is a text
}

// Greeted is a Responder that is told when the client has greeted, and which methods the
// client has declared that it answers.
type Greeted interface {
	Greeted(answers []string)
}
