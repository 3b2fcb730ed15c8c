package session

import (
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/hotrepl"
	"rpcx/wire/dialect/introspect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/scomp"
	"rpcx/wire/dialect/scriptling"
)

// A Spec is one row of the table of dialects: all that the rest of rpcx knows
// of it.
type Spec struct {
	Name      string
	NewCodec  func(e Endpoint, o wire.Options) dialect.Codec
	NewServer func(b dialect.Backend) dialect.Server

	Framing      string      // of streams of bytes where the endpoint names none; "": line
	Subprotocols []string    // offered on WebSocket
	Binary       wire.Binary // what a binary message means
	HostBinary   wire.Binary // the same where we are the server
	Duplex       bool        // it needs both directions: no HTTP POST
	Funcs        bool        // it has function values (key@on=NAME)
	Typed        bool        // its greeting or discovery types parameters: Conversation.Typing
	Modules      bool        // Typing takes a module's name, too
	// CheckName refuses what cannot be a method, with a usage Fault. nil: all can.
	CheckName func(method string, subscribe bool) error
	Styles    []string // the ways in which it sends params that are an object, the usual first; nil: one

	Jobs Jobs // what `job` can do
	// Later: the result of a call may come after its answer, as the one item that
	// is its data.
	Later bool

	// HookName is what hooks and policies call a method of the wire, patterns
	// included. nil: the same.
	HookName func(method string) string
	// WireName turns HookName around. nil: the same.
	WireName func(name string) string
	// Method is the name on the wire of what a user types as a method. nil: the
	// same.
	Method func(typed string) string
	// Respell is a method of the wire as a user would type it in place of typed.
	// nil: as it is.
	Respell    func(typed, method string) string
	Versioned  bool // its messages say "jsonrpc":"2.0"
	AnyValue   bool // params are one value of any kind, not an object or an array
	Evals      bool // it evaluates code
	Frames     bool // its evaluator completes code, resets, and evaluates every few frames; commands may be jobs
	Lingers    bool // it cannot cancel: a call that is given up goes on over there
	Introduces bool // its greeting tells who we are (--meta, --resume)
}

// Jobs says how far a dialect has jobs.
type Jobs int

// How far.
const (
	NoJobs  Jobs = iota
	OwnJobs      // a job belongs to the connection that started it
	AnyJobs      // jobs outlive connections
)

const defaultDialect = "jsonrpc"

// specs is the table of dialects.
func specs() []Spec {
	row := func(name string, v jsonrpc.Version) Spec {
		return Spec{
			Name: name, Versioned: v == jsonrpc.V2,
			NewCodec: func(e Endpoint, o wire.Options) dialect.Codec {
				return jsonrpc.NewCodec(jsonrpc.Options{Version: v, CancelMethod: cancelMethod(e), MaxDepth: o.MaxDepth})
			},
			NewServer: func(b dialect.Backend) dialect.Server { return jsonrpc.NewServer(v, b) },
		}
	}
	return []Spec{row("jsonrpc", jsonrpc.V2), row("jsonrpc1", jsonrpc.V1), introspectSpec(), scriptlingSpec(), roSpec(), scompSpec(), hotreplSpec()}
}

func introspectSpec() Spec {
	return Spec{
		Name: "introspect", Versioned: true,
		NewCodec: func(_ Endpoint, o wire.Options) dialect.Codec {
			return introspect.NewCodec(introspect.Options{MaxDepth: o.MaxDepth})
		},
		NewServer: introspect.NewServer,
		Typed:     true,
		Modules:   true,
		Method:    introspect.WireName,
		CheckName: introspect.CheckName,
		Styles:    introspect.Styles,
	}
}

func scriptlingSpec() Spec {
	return Spec{
		Name: "scriptling", Framing: "concat", Funcs: true, Versioned: true,
		NewCodec: func(e Endpoint, o wire.Options) dialect.Codec {
			return scriptling.NewCodec(scriptling.Options{
				OneWay: isHTTP(e), NoEnvironment: e.NoEnvironment, ShutdownTimeout: e.ShutdownTimeout, MaxDepth: o.MaxDepth,
			})
		},
		NewServer: scriptling.NewServer,
	}
}

func scompSpec() Spec {
	return Spec{
		Name:         "scomp",
		NewCodec:     func(_ Endpoint, o wire.Options) dialect.Codec { return scomp.NewCodec(o.MaxDepth) },
		NewServer:    scomp.NewServer,
		CheckName:    scomp.CheckName,
		Subprotocols: scomp.Subprotocols(), Binary: wire.BinaryRefuse, HostBinary: wire.BinaryRefuse,
		Duplex: true, Funcs: true, Typed: true, Versioned: true, AnyValue: true, Evals: true, Lingers: true, Introduces: true,
	}
}

func hotreplSpec() Spec {
	return Spec{
		Name: "hotrepl",
		NewCodec: func(_ Endpoint, o wire.Options) dialect.Codec {
			return hotrepl.NewCodec(hotrepl.Options{MaxDepth: o.MaxDepth})
		},
		NewServer:  hotrepl.NewServer,
		HostBinary: wire.BinaryIgnore,
		Duplex:     true, Typed: true, Evals: true, Frames: true, Jobs: OwnJobs,
	}
}

// cancelMethod is how a pending call is given up: JSON-RPC has no way, the
// Language Server Protocol does, and its framing tells it.
func cancelMethod(e Endpoint) string {
	if e.Framing == "lsp" {
		return "$/cancelRequest"
	}
	return ""
}

// Dialects are the names of the table.
func Dialects() []string {
	var names []string
	for _, s := range specs() {
		names = append(names, s.Name)
	}
	return names
}

// SpecOf returns the row of e's dialect.
func SpecOf(e Endpoint) Spec {
	s, _ := specOf(e.Dialect)
	return s
}

func specOf(name string) (Spec, error) {
	for _, s := range specs() {
		if s.Name == name {
			return s, nil
		}
	}
	f := usage("unknown dialect %q", name)
	if near := catalog.Nearest(name, Dialects()); near != "" {
		f.Hint = "did you mean " + near + "?"
	}
	return Spec{}, f
}
