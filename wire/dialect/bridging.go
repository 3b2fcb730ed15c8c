package dialect

import (
	"encoding/json"

	"rpcx/wire/catalog"
)

// Bridging says how a bridge offers methods of another dialect in this one, and calls methods of
// this one from another ("A bridge" in rpcx-endpoints(7)). The zero value is right for most
// dialects.
type Bridging struct {
	// Name returns a name by which this dialect can offer a method of another; nil means any name can be offered.
	Name func(method string) string
	// Described says that a client finds the true name of a method that Name has changed in the
	// method's description.
	Described bool
	// Alone reports whether a method of a catalog of this dialect can be called by its name alone, without an object
	// that it belongs to; nil means every method can.
	Alone func(m *catalog.Method) bool
	// ByPosition says that methods whose params the catalog leaves open take positional arguments, too: where a listener's
	// params are objects, these are the member args.
	ByPosition bool
	// Plain converts the params of a request to this dialect's server into the form that another dialect uses; nil
	// means they are passed on as hooks get them.
	Plain func(params json.RawMessage) json.RawMessage
	// Fields splits a request's params into the members that a peer of this dialect takes beside method and params, and
	// the rest; nil means there are no such members.
	Fields func(params json.RawMessage) (extra, rest json.RawMessage)

	// Told reports whether a notification that arrives during a call belongs to that call, as its progress or its log. Then
	// the bridge forwards it as such. nil: no notification does.
	Told func(method string) bool
	// Own lists the methods of the handshake: each connection has its own, and they are never forwarded.
	Own []string
	// Greets reports that clients begin the handshake of this dialect, which then calls Greeted of its Responder.
	Greets    bool
	NoStreams bool // a server of this dialect answers a call with one value
	Objects   bool // params are an object
	Endless   bool // a method that streams may go on for ever
	// Streams reports whether a method whose kind the peer's description leaves open opens a stream, and whether that
	// stream may never end; nil means no method does.
	Streams   func(method string) (streams, endless bool)
	TextCodes bool // the code of an error is a text
}
