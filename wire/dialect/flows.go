package dialect

import (
	"context"
	"encoding/json"

	"rpcx/wire/catalog"
)

// Flows: what needs several messages. Optional interfaces of a Codec, found by
// assertion, run in the caller's goroutine on a Caller.

// A Greeter greets before anything else is sent.
type Greeter interface {
	Greet(ctx context.Context, c Caller) error
}

// An Introducer is told, before it greets, what is to be said of us.
type Introducer interface {
	Introduce(i Introduction)
	// Session is what the far side calls our session, after the greeting; "":
	// nothing.
	Session() string
}

// An Introduction is what a greeting says of us, where a dialect's does.
type Introduction struct {
	Offers *catalog.Catalog // what we answer, by exact names; nil: nothing is told
	// Functions are hooks that are function values: nobody calls them by name.
	Functions map[string]bool
	Info      catalog.Info    // who we are
	Metadata  json.RawMessage // an object of what the user adds; nil: nothing
	Resume    string          // the session to go on with, and no other; "": any
	Last      string          // the session that was lost with its connection: it is gone on with where that can be; "": none
}

// A Jobber works on jobs: calls whose results come later, and that may outlive
// the command that started them. op is of one of the Job kinds. What a stream
// says of a job by itself (how it stands, which there are) is data of the
// dialect's, an object with "job" and "status". It returns a usage Fault for
// what the dialect cannot do.
type Jobber interface {
	Job(ctx context.Context, c Caller, op Op) (Stream, error)
}

// A Rehearser counts the messages of its greeting, so that what is encoded next
// has the id that it would have after it.
type Rehearser interface{ Rehearse() }

// A Describer asks the far side for what it offers. It returns
// wire.ErrUnsupported where the dialect cannot ask.
type Describer interface {
	Describe(ctx context.Context, c Caller) (*catalog.Catalog, error)
}

// A Typer knows by which schemas the params of a method are typed, from the
// greeting or by asking. It returns nil where nothing is known.
type Typer interface {
	Typing(ctx context.Context, c Caller, method string) (*catalog.Catalog, error)
}

// A Keeper is a codec whose discovery is kept from one conversation to the next.
type Keeper interface {
	// Keep is called before anything is sent.
	Keep(k Kept)
}

// Kept is where a Keeper keeps what it found of one far side, and whom it tells.
// All members may be nil.
type Kept struct {
	// Load returns what was kept; nil: nothing.
	Load func() json.RawMessage
	// Update replaces what is kept by what change makes of it; nil forgets it.
	Update func(change func(old json.RawMessage) json.RawMessage)
	Warn   func(text string) // a user should know
	Note   func(text string) // for those who look closely (-v)
}

// A Leaver says goodbye before the connection is closed. Whatever bounds it has
// of its own, it ends when ctx is cancelled, which is more than a deadline that
// has passed: somebody waits.
type Leaver interface {
	Leave(ctx context.Context, c Caller) error
}
