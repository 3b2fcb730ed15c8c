package options

import (
	"context"
	"fmt"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// Handshake holds the flags for what a dialect says about us in its handshake.
type Handshake struct {
	meta          []string
	resume        string
	NoEnvironment bool
	Shutdown      cmdline.Duration
}

func (h *Handshake) flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.List(cmdline.GroupScomp, "meta", "", "`KEY:=JSON` (or KEY=TEXT): add to what the handshake says about us", &h.meta),
		cmdline.Text(cmdline.GroupScomp, "resume", "", "continue the peer's session `ID`, .info.extra.sessionId of rpcx describe", &h.resume),
		cmdline.Bool(cmdline.GroupScriptling, "no-environment", "", "leave out environment.open and environment.close", &h.NoEnvironment),
		cmdline.PositiveDuration(cmdline.GroupScriptling, "shutdown-timeout", "wait `DURATION` for the answer to plugin.shutdown (1s)", &h.Shutdown),
	}
}

// Apply stores the flags in e and o, and returns an error for flags that the
// dialect does not have.
func (h *Handshake) Apply(e *endpoint.Endpoint, o *session.Options) error {
	if h.NoEnvironment || h.Shutdown != 0 {
		if !e.Spec().Handshake.Plugin || e.Socket != "" {
			return wire.NewFault(wire.Usage, "--no-environment and --shutdown-timeout go with a connection to a plugin, in "+PluginDialect, nil)
		}
		e.Plugin = dialect.PluginOptions{NoEnvironment: h.NoEnvironment, ShutdownTimeout: time.Duration(h.Shutdown)}
	}
	o.Info = catalog.Info{Name: "rpcx", Version: env.Version()}
	if len(h.meta) == 0 && h.resume == "" {
		return nil
	}
	if has := e.Spec().Handshake; len(h.meta) > 0 && !has.Metadata || h.resume != "" && !has.Resumes {
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
	var who scan.Object
	who.Text("name", "rpcx")
	who.Text("version", env.Version())
	r, err := params.Parse(context.Background(), append([]string{string(scan.Pair("client", who.End()))}, h.meta...), params.Options{})
	o.Metadata, o.Resume = r.Params, h.resume
	return err
}

// PluginDialect is the dialect of the command plugin.
const PluginDialect = "scriptling"
