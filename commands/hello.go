package commands

import (
	"fmt"
	"time"

	"rpcx/commands/params"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// handshakeFlags are what a greeting says of us, where a dialect's does.
type handshakeFlags struct {
	meta          []string
	resume        string
	noEnvironment bool
	shutdown      duration
}

func (h *handshakeFlags) flags() []Flag {
	return []Flag{
		list(groupGreeting, "meta", "", "`KEY:=JSON` (or KEY=TEXT): add to what the handshake says of us (scomp)", &h.meta),
		text(groupGreeting, "resume", "", "go on with the session `ID` of the peer (scomp)", &h.resume),
		boolean(groupGreeting, "no-environment", "", "leave environment.open and environment.close out (scriptling)", &h.noEnvironment),
		positive(groupGreeting, "shutdown-timeout", "wait `DURATION` for the answer to plugin.shutdown (1s; scriptling)", &h.shutdown),
	}
}

// apply fills in what a greeting says of us.
func (h *handshakeFlags) apply(e *session.Endpoint, o *session.Options) error {
	if h.noEnvironment || h.shutdown != 0 {
		if !session.SpecOf(*e).Plugin || e.Socket != "" {
			return wire.NewFault(wire.Usage, "--no-environment and --shutdown-timeout go with a connection to a plugin, in "+pluginDialect, nil)
		}
		e.NoEnvironment, e.ShutdownTimeout = h.noEnvironment, time.Duration(h.shutdown)
	}
	o.Info = catalog.Info{Name: "rpcx", Version: Version()}
	if len(h.meta) == 0 && h.resume == "" {
		return nil
	}
	if !session.SpecOf(*e).HandshakeMetadata {
		what := "the greeting of " + e.Dialect
		if e.Dialect == "" {
			what = "what was greeted long ago"
		}
		return wire.NewFault(wire.Usage, "--meta and --resume go with a handshake: "+what+" has no place for them", nil)
	}
	for _, word := range h.meta {
		if !params.IsKeyOp(word) {
			return wire.NewFault(wire.Usage, fmt.Sprintf("--meta takes KEY:=JSON or KEY=TEXT, not %q", word), nil)
		}
	}
	who := append(scan.AppendQuoted([]byte(`{"client":{"name":"rpcx","version":`), Version()), "}}"...)
	r, err := params.Parse(append([]string{string(who)}, h.meta...), params.Options{})
	o.Metadata, o.Resume = r.Params, h.resume
	return err
}
