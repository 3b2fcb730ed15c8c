package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/session"
)

// Options are the flags of serve.
type Options struct {
	Conn     options.Connection
	Hooks    options.Hooks
	Catalog  string
	allow    []string
	deny     []string
	Runtime  string // evaluates code: jq, co:COMMAND, or ""
	inflight int64
	clients  int64
	Frame    cmdline.Duration
	Files    string
	input    cmdline.Duration
	stateKey string

	printConfig bool
	Record      options.Record
	To          string // the peer of a bridge, or ""
	set         options.Settings
}

// unnamed is the default name of a server.
const unnamed = "rpcx serve"

// Flags returns the flags of o.
func (o *Options) Flags(run *env.Env) []*cmdline.Flag {
	flags := []*cmdline.Flag{
		cmdline.Text(cmdline.GroupHooks, "catalog", "", "describe methods and check calls, using the catalog in `FILE`", &o.Catalog),
		cmdline.Text(cmdline.GroupHooks, "runtime", "", "`jq|co:COMMAND`: evaluate the code that clients send, with jq or with the co-process COMMAND", &o.Runtime),
		cmdline.PositiveDuration(cmdline.GroupHotRepl, "frame", "simulate a frame every `DURATION` (16ms)", &o.Frame),
		cmdline.Text(cmdline.GroupHooks, "artifacts", "", "offer clients the files that hooks write to $RPCX_ARTIFACTS, a directory under `DIR` (by default, a temporary directory)", &o.Files),
		cmdline.PositiveDuration(cmdline.GroupHooks, "input-timeout", "end hooks that wait longer than `DURATION` for client input (5m)", &o.input),
		cmdline.Text(cmdline.GroupHooks, "state-key", "", "seal the state that clients keep for the server with the key in `@FILE` (by default, with a random key); servers with the same key accept each other's state", &o.stateKey),
		cmdline.Bool("", "print-config", "", "print the entry for this server in the configuration file of an editor or agent, and exit", &o.printConfig),
		cmdline.List(cmdline.GroupHooks, "allow", "", "answer only methods that match `PATTERN`", &o.allow),
		cmdline.List(cmdline.GroupHooks, "deny", "", "reject methods that match `PATTERN`", &o.deny),
		cmdline.Number(cmdline.GroupListen, "max-inflight", "stop reading from a connection while `N` of its requests are pending (1088)", 1, &o.inflight),
		cmdline.Number(cmdline.GroupListen, "max-clients", "accept at most `N` connections at once (1000)", 1, &o.clients),
		cmdline.Text(cmdline.GroupHooks, "to", "", "also offer the methods of `ENDPOINT`, in the dialect of LISTEN", &o.To),
		o.Conn.Login.UseFlag(),
	}
	return slices.Concat(o.Hooks.Flags(), flags, o.set.Flags(), o.Conn.Flags(), o.Conn.KeptFlags(), o.Record.Flags(), run.Common.Flags())
}

// Silent reports whether none of the given flags provides answers to calls.
func (o *Options) Silent() bool {
	return len(o.Hooks.On) == 0 && len(o.Hooks.Files) == 0 && o.Catalog == "" && o.Runtime == "" && o.To == ""
}

// Session returns the options of the listener.
func (o *Options) Session(ctx context.Context, run *env.Env, spec dialect.Spec) (session.Options, error) {
	conn := &o.Conn
	if o.To != "" { // headers and tokens are for that peer
		conn = conn.Listener()
	}
	so, err := options.ForSession(ctx, run, conn, &o.Hooks)
	if err != nil {
		return so, err
	}
	so.Info = catalog.Info{Name: "rpcx", Version: env.Version()}
	so.Allow, so.Deny, so.Runtime = o.allow, o.deny, o.Runtime
	so.Inflight, so.Client = int(o.inflight), options.ForClient(run)
	so.Hosting = dialect.HostOptions{Frame: time.Duration(o.Frame), Artifacts: o.Files, MaxMessage: int(o.Conn.MaxMessage), InputTimeout: time.Duration(o.input)}
	if so.Hosting.StateKey, err = options.StateKey(o.stateKey); err != nil {
		return so, err
	}
	if o.Files != "" {
		if info, err := os.Stat(o.Files); err != nil || !info.IsDir() {
			return so, wire.NewFault(wire.Usage, "--artifacts: "+o.Files+" is not a directory", err)
		}
	}
	if so.Catalog, err = options.LoadCatalog(o.Catalog); err != nil {
		return so, err
	}
	if so.Catalog == nil {
		if so.Catalog, err = o.described(spec, so.Hooks); err != nil {
			return so, err
		}
	}
	if err := o.policy(&so); err != nil {
		return so, err
	}
	t := &so.Transport
	t.MaxClients = int(o.clients)
	t.Options.NoiseLimit, t.Options.Strict = 0, true
	return so, nil
}

// described returns the server's catalog without --catalog: the catalog of --hooks FILE, or a catalog with the names of
// the hooks.
func (o *Options) described(spec dialect.Spec, entries []hook.Entry) (*catalog.Catalog, error) {
	c, err := o.Hooks.Catalog()
	if err != nil {
		return nil, err
	}
	c = cmp.Or(c, &catalog.Catalog{Catalog: 1, Info: catalog.Info{Name: unnamed, Version: env.Version()}})
	for _, e := range entries {
		name := spec.Names.FromHook(e.Pattern)
		listed := func(m catalog.Method) bool { return spec.Names.FromHook(m.Name) == name } // a catalog may spell names as hooks do
		if !strings.Contains(name, "*") && !slices.ContainsFunc(c.Methods, listed) {
			c.Methods = append(c.Methods, catalog.Method{Name: name})
		}
	}
	return c, nil
}

// policy adds the member "policy" of the files of --hooks and --catalog to so:
// {"policy":{"allow":[PATTERN…],"deny":[PATTERN…]}}. Peers cannot see it.
func (o *Options) policy(so *session.Options) error {
	files := slices.Clone(o.Hooks.Files)
	if o.Catalog != "" {
		files = append(files, o.Catalog)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			continue
		}
		c, err := catalog.Load(file)
		if err != nil {
			return err
		}
		var p struct{ Allow, Deny []string }
		given := c.TakeExtra("policy")
		if given == nil {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(given))
		dec.DisallowUnknownFields() // a misspelt "allow" would allow everything
		if err := dec.Decode(&p); err != nil {
			return wire.NewFault(wire.Usage, fmt.Sprintf("%s: policy is {\"allow\":[PATTERN…],\"deny\":[PATTERN…]}: %v", file, err), err)
		}
		so.Allow, so.Deny = append(so.Allow, p.Allow...), append(so.Deny, p.Deny...)
	}
	so.Catalog.TakeExtra("policy")
	return nil
}
