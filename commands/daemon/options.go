package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
	"rpcx/wire/scan"
	"rpcx/wire/session/daemon"
	"rpcx/wire/session/rundir"
)

func (o *Options) hostOptions(run *env.Env, e endpoint.Endpoint) (daemon.HostOptions, error) {
	k := daemon.HostOptions{
		Name:               o.Session.session,
		Version:            env.Version(),
		FirstAnswerTimeout: o.Time.Timeout.Or(options.DefaultIdle),
		IdleExit:           max(o.Session.idleExit.Or(defaultIdleExit), 0),
		InboxTimeout:       max(o.Session.inboxTimeout.Or(defaultInboxTimeout), 0),
	}
	if err := rundir.CheckName(k.Name); err != nil {
		return k, err
	}
	if names, err := profile.Names(); err != nil {
		return k, err
	} else if slices.Contains(names, k.Name) {
		return k, wire.NewFault(wire.Usage, fmt.Sprintf("cannot open session %s: a profile has that name", k.Name), nil)
	}
	if e.Socket != "" {
		return k, run.Line.Usage("cannot open a session on %s, which is already a connection", e)
	}
	if e.Address.Scheme == "stdio" {
		return k, run.Line.Usage("stdio: cannot run in the background")
	}
	if o.Session.inboxDefault != "" {
		k.InboxDefault = json.RawMessage(strings.TrimSpace(o.Session.inboxDefault))
		if err := scan.Valid(k.InboxDefault, wire.DefaultMaxDepth); err != nil {
			return k, wire.NewFault(wire.Usage, "--inbox-default is not valid JSON: "+err.Error(), err)
		}
	}
	for _, s := range o.Session.subscribe {
		op, err := subscription(e, s)
		if err != nil {
			return k, err
		}
		k.Subscribe = append(k.Subscribe, op)
	}
	var err error
	k.Fingerprint, err = o.fingerprint(e)
	return k, err
}

// subscription parses one --subscribe: METHOD, or METHOD and its params as JSON. In a dialect that watches code, the
// whole value is code.
func subscription(e endpoint.Endpoint, given string) (dialect.Op, error) {
	method, params, found := strings.Cut(strings.TrimSpace(given), " ")
	if e.Spec().Evaluation.IsLive() {
		method, found = given, false
	}
	op := dialect.Op{Kind: dialect.Subscribe, Method: method}
	if method == "" {
		return op, wire.NewFault(wire.Usage, "--subscribe needs a method", nil)
	}
	if found {
		op.Params = json.RawMessage(strings.TrimSpace(params))
		if err := scan.Valid(op.Params, wire.DefaultMaxDepth); err != nil {
			return op, wire.NewFault(wire.Usage, fmt.Sprintf("--subscribe %s: the params are not valid JSON: %v", wire.Quote(given), err), err).
				WithHint(`write METHOD, or "METHOD JSON"`)
		}
		if t := scan.Type(op.Params); t != 'o' && t != 'a' {
			return op, wire.NewFault(wire.Usage, fmt.Sprintf("--subscribe %s: params must be an object or an array", wire.Quote(given)), nil)
		}
	}
	return op, nil
}

// fingerprint returns a hash of the properties that distinguish sessions: the endpoint, dialect, hooks, subscriptions
// and tape, and the working directory if one of them depends on it.
func (o *Options) fingerprint(e endpoint.Endpoint) (string, error) {
	here := ""
	local := e.Address.Path != "" && !filepath.IsAbs(e.Address.Path)
	if local || len(e.Address.Command) > 0 || len(o.Hooks.On) > 0 || len(o.Hooks.Files) > 0 {
		var err error
		if here, err = os.Getwd(); err != nil {
			return "", err
		}
	}
	recorded, err := o.Record.Identity()
	if err != nil {
		return "", err
	}
	return cache.Fingerprint(e, here, o.Hooks.On, o.Hooks.Files, o.Session.subscribe, recorded), nil
}

// sessionOnly are the flags that require --session.
var sessionOnly = []string{"ensure", "idle-exit", "subscribe", "inbox-timeout", "inbox-default"}

// Asked reports whether the command line opens a session.
func Asked(l *cmdline.CommandLine) (bool, error) {
	if l.Has("session") {
		return true, refuseOutput(l)
	}
	for _, flag := range sessionOnly {
		if l.Has(flag) {
			return false, l.Usage("--%s needs --session", flag)
		}
	}
	return false, nil
}

// refuseOutput returns an error for flags about output or the prompt, because a command with --session has neither. It
// allows --arg and --argjson, because hooks also use them.
func refuseOutput(l *cmdline.CommandLine) error {
	for _, known := range l.Cmd.Flags {
		name, group := known.Name, known.Group
		prints := group == cmdline.GroupOutput || group == cmdline.GroupExpect
		prints = prints || slices.Contains([]string{"count", "until", "for"}, name)
		if prints && name != "arg" && name != "argjson" && l.Has(name) {
			return l.Usage("--%s is for output, but --session prints nothing", name).WithHint("use it in a command on the session")
		}
	}
	for _, flag := range []string{"catalog", "no-check"} {
		if l.Has(flag) {
			return l.Usage("--%s is for the prompt, but --session has no prompt", flag).WithHint("use it in a command on the session")
		}
	}
	return nil
}

// Options contains the flags of connect for sessions and their connections.
type Options struct {
	options.Client
	Session SessionFlags
}

// SessionFlags contains the flags of connect for sessions.
type SessionFlags struct {
	session   string
	ensure    bool
	idleExit  cmdline.Duration
	subscribe []string

	inboxTimeout cmdline.Duration
	inboxDefault string
}

// Flags returns the flags of k.
func (k *SessionFlags) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Text(cmdline.GroupSession, "session", "", "keep the connection in the background as @`NAME`", &k.session),
		cmdline.Bool(cmdline.GroupSession, "ensure", "", "use the session if it already exists with the same endpoint, dialect, hooks, subscriptions and tape", &k.ensure),
		cmdline.Generic(cmdline.GroupSession, "idle-exit", "close the session after `DURATION` without a command (1h; 0: never)", &k.idleExit),
		cmdline.List(cmdline.GroupSession, "subscribe", "", "subscribe to `METHOD` (\"METHOD JSON\": with params), and store its events for rpcx subscribe @NAME --since", &k.subscribe),
		cmdline.Generic(cmdline.GroupSession, "inbox-timeout", "send the default answer to a call that has waited in the inbox for `DURATION` (5m; 0: never)", &k.inboxTimeout),
		cmdline.Text(cmdline.GroupSession, "inbox-default", "", "use the value `JSON` as the default answer of --inbox-timeout (an error)", &k.inboxDefault),
	}
}

const (
	defaultIdleExit     = time.Hour
	defaultInboxTimeout = 5 * time.Minute
	defaultLease        = time.Minute
)
