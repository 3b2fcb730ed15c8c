package hotrepl

import (
	_ "embed" // the rules and the probes

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// rpcx validate uses these rules, schemas and probes.
var (
	//go:embed rules.toml
	rules string
	//go:embed schemas.json
	schemas string
	//go:embed probes.toml
	probes string
)

// settings are the members of a command_call besides its name and args.
var settings = []dialect.Setting{
	{Name: "timeoutMs", Type: "number", Says: "the command's time limit in milliseconds; the host passes it to the command"},
}

// Spec returns this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name:       "hotrepl",
		NewCodec:   NewCodec,
		NewServer:  NewServer,
		Shape:      Shape,
		Transport:  dialect.Transport{ServerBinary: wire.BinaryIgnore, Duplex: true},
		Params:     dialect.Params{Typed: true, Settings: settings},
		Validation: dialect.Validation{Rules: rules, Probes: probes, Schemas: schemas},
		Bridge:     dialect.Bridging{NoStreams: true, Objects: true, Errors: dialect.ErrorForm{TextCodes: true}, Progress: ofJobs, Cancels: dialect.Always, Calls: true},
		Handshake:  dialect.Handshake{ServerFirst: true, OneClient: true},
		Detection: &dialect.Detection{
			First: []string{`^\s*\{"type":\s*"handshake"`},
			Probe: &dialect.Probe{Is: `.type == "handshake" and has("protocolVersion") and has("host")`},
		},
		Jobs:       &dialect.Jobs{Journal: true},
		Evaluation: &dialect.Evaluation{Runtime: true, Live: true},
		Files:      &dialect.Files{Local: true},
	}
}

// Shape describes HotRepl's messages for tapes. Each message has a type. A host's message with an id answers the
// request with that id.
func Shape() dialect.Shape {
	return dialect.Shape{
		Method: "type", ID: "id", Typed: true, Mute: []string{"cancel"},
		Error:  `{"type":"error","id":$id,"error":{"kind":"precondition_failed","code":"notOnTape","message":$message,"retryable":false,"details":$data}}`,
		MadeUp: dialect.Places("/id", "/targetId", "/jobId", "/**/jobId", "/**/requestId"),
		Varies: append(dialect.Places("/host/version", "/artifacts/*/path", "/artifacts/*/uri", "/**/durationMs", "/**/timestamp"),
			dialect.Place{Method: "journal*", Pointer: "/entries/*/id"}),
		Polls: []dialect.Poll{{Method: typeStatus, Job: "/jobId", State: "/state", Running: []string{"running"}}},
	}
}

// ofJobs reports whether a command is a job. Other commands have no progress.
func ofJobs(_ string, kind catalog.Kind) bool { return kind == catalog.Job }
