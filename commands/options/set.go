package options

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// Settings are the values of --set: extra members of requests, and values of the handshake. The endpoint's dialect
// declares their names and types.
type Settings struct {
	given []string
	// Requests is set for commands that send requests. --set then accepts members of requests.
	Requests bool
}

// Flags returns the flag of s.
func (s *Settings) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.List(cmdline.GroupDialect, "set", "", "`NAME=TEXT`: set the dialect's value NAME to TEXT (NAME:=JSON: to a JSON value)", &s.given),
	}
}

// Members returns an object with the extra members of each request, or nil.
func (s *Settings) Members(l *cmdline.CommandLine, e endpoint.Endpoint) (json.RawMessage, error) {
	members, _, err := s.Split(l, e)
	return members, err
}

// Split returns the members of requests and the values of the handshake, each as an object or nil. It rejects names and
// types that the dialect does not declare, and values without an effect.
func (s *Settings) Split(l *cmdline.CommandLine, e endpoint.Endpoint) (members, handshake json.RawMessage, err error) {
	if len(s.given) == 0 {
		return nil, nil, nil
	}
	for _, word := range s.given {
		if !params.IsKeyOp(word) {
			return nil, nil, l.Usage("--set takes NAME=TEXT or NAME:=JSON, not %q", word)
		}
	}
	r, err := params.Parse(context.Background(), s.given, params.Options{})
	if f := wire.AsFault(err); f != nil {
		return nil, nil, f.About("--set")
	}
	var request, initial scan.Object
	for name, val := range scan.Named(r.Params) {
		declared, err := s.check(l, e, name, val)
		if err != nil {
			return nil, nil, err
		}
		if declared.Handshake {
			initial.Add(name, val)
		} else {
			request.Add(name, val)
		}
	}
	return request.EndOrNil(), initial.EndOrNil(), nil
}

// check returns the dialect's declaration of a name. It returns a usage Fault for an undeclared name or type, and for a value
// without an effect.
func (s *Settings) check(l *cmdline.CommandLine, e endpoint.Endpoint, name string, val []byte) (*dialect.Setting, error) {
	declared := wire.Find(e.Spec().Params.Settings, func(d *dialect.Setting) bool { return d.Name == name })
	switch {
	case declared == nil:
		f := l.Usage("--set %s: %s has no such value", name, e.Dialect)
		f.Hint = "it has no values for --set"
		if known := Settable(e, s.Requests); len(known) > 0 {
			names := wire.Map(known, func(k dialect.Setting) string { return k.Name })
			f.Hint = "it has " + strings.Join(names, ", ")
		}
		return nil, f
	case declared.Handshake && e.Session != "":
		return nil, l.Usage("--set %s is part of the handshake, but @%s is already connected", name, e.Session).
			WithHint("use the flag where you open the session: rpcx connect ENDPOINT --session " + e.Session + " --set " + name + "=…")
	case declared.Handshake && e.Socket != "":
		return nil, l.Usage("--set %s is part of the handshake, which is complete", name)
	case !declared.Handshake && !s.Requests:
		return nil, l.Usage("--set %s is a member of requests, but %s sends no requests", name, strings.Join(l.Path, " "))
	case !scan.HasType(val, declared.Type):
		return nil, l.Usage("--set %s takes a value of type %s, not %s", name, declared.Type, wire.Quote(format.Cut(string(val), maxShown))).
			WithHint(name + ":=JSON passes a value that is not a string")
	}
	return declared, nil
}

// maxShown bounds a value in an error message.
const maxShown = 40

// Settable returns the values that --set accepts for e. requests includes members of requests.
func Settable(e endpoint.Endpoint, requests bool) []dialect.Setting {
	return slices.DeleteFunc(slices.Clone(e.Spec().Params.Settings), func(d dialect.Setting) bool {
		return d.Handshake && e.Socket != "" || !d.Handshake && !requests
	})
}

// Handshake contains the flags for the local side's values in a handshake.
type Handshake struct {
	Set           Settings
	resume        string
	NoEnvironment bool
	Shutdown      cmdline.Duration
}

func (h *Handshake) flags() []*cmdline.Flag {
	return append(h.Set.Flags(),
		cmdline.Text(cmdline.GroupScomp, "resume", "", "resume the peer's session `ID`, as printed by rpcx describe E -q .info.extra.sessionId", &h.resume),
		cmdline.Bool(cmdline.GroupScriptling, "no-environment", "", "do not send environment.open and environment.close", &h.NoEnvironment),
		cmdline.PositiveDuration(cmdline.GroupScriptling, "shutdown-timeout", "wait up to `DURATION` for the response to plugin.shutdown (1s)", &h.Shutdown),
	)
}

// Apply stores the flags in e and o. It returns an error for invalid values.
func (h *Handshake) Apply(run *env.Env, e *endpoint.Endpoint, o *session.Options) (err error) {
	e.Plugin = dialect.PluginOptions{NoEnvironment: h.NoEnvironment, ShutdownTimeout: time.Duration(h.Shutdown)}
	o.Info, o.Resume = catalog.Info{Name: "rpcx", Version: env.Version()}, h.resume
	_, o.Settings, err = h.Set.Split(run.Line, *e)
	return err
}

// PluginDialect is the dialect of the command plugin.
const PluginDialect = "scriptling"
