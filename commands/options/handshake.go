package options

import (
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// Handshake holds the flags for the local side's values in a handshake.
type Handshake struct {
	Set           Settings
	resume        string
	NoEnvironment bool
	Shutdown      cmdline.Duration
}

func (h *Handshake) flags() []cmdline.Flag {
	return append(h.Set.Flags(),
		cmdline.Text(cmdline.GroupScomp, "resume", "", "resume the peer's session `ID` (rpcx describe E -q .info.extra.sessionId)", &h.resume),
		cmdline.Bool(cmdline.GroupScriptling, "no-environment", "", "do not send environment.open and environment.close", &h.NoEnvironment),
		cmdline.PositiveDuration(cmdline.GroupScriptling, "shutdown-timeout", "wait `DURATION` for the response to plugin.shutdown (1s)", &h.Shutdown),
	)
}

// Apply stores the flags in e and o, and returns an error for invalid values.
func (h *Handshake) Apply(run *env.Env, e *endpoint.Endpoint, o *session.Options) (err error) {
	if h.NoEnvironment || h.Shutdown != 0 {
		e.Plugin = dialect.PluginOptions{NoEnvironment: h.NoEnvironment, ShutdownTimeout: time.Duration(h.Shutdown)}
	}
	o.Info, o.Resume = catalog.Info{Name: "rpcx", Version: env.Version()}, h.resume
	_, o.Settings, err = h.Set.split(run.Line, *e)
	return err
}

// PluginDialect is the dialect of the command plugin.
const PluginDialect = "scriptling"
