package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// serveOptions are what `serve` was given.
type serveOptions struct {
	conn    connFlags
	hooks   hookFlags
	catalog string
	allow   []string
	deny    []string
	origins []string
	token   string
	public  bool
	runtime string
	frame   duration
	files   string
}

func serveCommand(a *app) *Command {
	o := &serveOptions{}
	return &Command{
		Name:        "serve",
		Usage:       "answer calls: a server in any dialect, made of hooks",
		ArgsUsage:   "LISTEN [-- COMMAND ARGS...]",
		Description: serveDescription,
		Metadata: map[string]any{examplesKey: []Example{
			{Says: "A server of one method, on a free port", Command: `rpcx serve ws://127.0.0.1:0/ --on 'add=jq:.[0] + .[1]'`},
			{Says: "A server for as long as a test runs", Command: `rpcx serve tcp://127.0.0.1:0 --on 'add=jq:.[0] + .[1]' -- rpcx call @ add 1 2`},
			{Says: "A folder of scripts, each named for the method it answers", Command: "rpcx serve unix:/tmp/tools.sock --hooks ./methods"},
		}},
		Flags:  o.flags(a),
		Action: func(ctx context.Context, _ *Command) error { return runServe(ctx, a, o) },
	}
}

func (o *serveOptions) flags(a *app) []Flag {
	var flags []Flag
	for _, group := range [][]Flag{
		o.hooks.flags(),
		{
			text(groupHooks, "catalog", "", "describe and check by the catalog in `FILE`", &o.catalog),
			text(groupHooks, "runtime", "", "evaluate code with `jq|co:COMMAND`, where the dialect has eval (scomp, hotrepl)", &o.runtime),
			positive(groupHooks, "frame", "a simulated frame lasts `DURATION` (16ms; hotrepl)", &o.frame),
			text(groupHooks, "artifacts", "", "hooks write files for clients below `DIR`, as $RPCX_ARTIFACTS says (one of our own, gone at the end; hotrepl)", &o.files),
			list(groupHooks, "allow", "", "answer only methods that match `PATTERN`", &o.allow),
			list(groupHooks, "deny", "", "refuse methods that match `PATTERN`", &o.deny),
			list(groupListen, "allow-origin", "", "let web pages of `ORIGIN` connect (http, ws)", &o.origins),
			text(groupListen, "token", "", "demand the bearer token in `@FILE` (http, ws)", &o.token),
			boolean(groupListen, "public", "", "listen beyond this machine without token or client certificates", &o.public),
		},
		o.conn.sharedFlags(), a.common.flags(),
	} {
		flags = append(flags, group...)
	}
	return flags
}

const serveDescription = `When the listener is bound, one line on stdout says where:
{"listening":"ws://127.0.0.1:41233/"}. With -- COMMAND, the command runs with
RPCX_ENDPOINT set to the bound endpoint; when it ends, the server does, with its status.

LISTEN is an endpoint, with 0 as port for a free one: ws://127.0.0.1:0/,
http://127.0.0.1:8080/rpc, tcp://127.0.0.1:0, unix:PATH, wss, https and tls (with --cert
and --key), or stdio: where rpcx is the child. Flags stand before --.`

func runServe(ctx context.Context, a *app, o *serveOptions) error {
	e, rest, err := a.endpoint(ctx, o.conn.dialect)
	if err != nil {
		return err
	}
	command, err := a.serveCommandLine(rest)
	if err != nil {
		return err
	}
	if scheme := e.Address.Scheme; command != nil && (scheme == "stdio" || scheme == "ipc") {
		return a.line.usage("%s: has no endpoint that a command could call", scheme)
	}
	if (o.frame > 0 || o.files != "") && !session.SpecOf(e).LiveEval {
		return a.line.usage("--frame and --artifacts: %s has neither", e.Dialect)
	}
	so, err := o.session(ctx, a, session.SpecOf(e))
	if err != nil {
		return err
	}
	s, err := session.Listen(ctx, e, so)
	if err != nil {
		return err
	}
	if o.silent() && !session.SpecOf(e).LiveEval { // an evaluator has commands of its own
		a.console.Warn("nothing answers here, so that every call gets -32601: --on NAME=ANSWER answers one")
	}
	return a.serve(ctx, s, command, o.hooks.strict)
}

// silent says that nothing was given that could answer.
func (o *serveOptions) silent() bool {
	return len(o.hooks.on) == 0 && len(o.hooks.files) == 0 && o.catalog == "" && o.runtime == ""
}

// serve serves until the end: of command, of stdio, or by a signal.
func (a *app) serve(ctx context.Context, s *session.Server, command []string, strict bool) (err error) {
	reload := s.Reload
	a.reload.Store(&reload)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	if at := s.Endpoint(); at != "" && command == nil {
		err = say(os.Stdout, `{"listening":`+string(scan.AppendQuoted(nil, at))+"}\n")
	}
	if err == nil {
		err = a.serveUntil(ctx, s, served, command)
	}
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if failed := s.HookFailure(); failed != nil && strict && err == nil {
		err = failed
	}
	return err
}

// serveCommandLine is what stands after "--".
func (a *app) serveCommandLine(rest []string) ([]string, error) {
	if a.line.dash < 0 {
		if len(rest) > 0 {
			f := a.line.usage("serve takes one LISTEN, not %q too", rest[0])
			f.Hint = "a command to run goes after --"
			return nil, f
		}
		return nil, nil
	}
	if a.line.dash != 1 || len(rest) == 0 {
		return nil, a.line.usage("serve LISTEN -- COMMAND needs one LISTEN before -- and a command after it")
	}
	return rest, nil
}

// session are the options of the listener.
func (o *serveOptions) session(ctx context.Context, a *app, spec dialect.Spec) (session.Options, error) {
	so, err := a.sessionOptions(ctx, &o.conn, &o.hooks)
	if err != nil {
		return so, err
	}
	so.Allow, so.Deny, so.Runtime = o.allow, o.deny, o.runtime
	so.Hosting = dialect.Hosting{Frame: time.Duration(o.frame), Artifacts: o.files, MaxMessage: int(o.conn.maxMessage)}
	if o.files != "" {
		if info, err := os.Stat(o.files); err != nil || !info.IsDir() {
			return so, wire.NewFault(wire.Usage, "--artifacts: "+o.files+" is no folder", err)
		}
	}
	if so.Catalog, err = loadCatalog(o.catalog); err != nil {
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
	t.Options.NoiseLimit, t.Options.Strict = 0, true
	t.AllowOrigin, t.Public = o.origins, o.public
	t.Token, err = readToken(o.token)
	return so, err
}

// described is the catalog that we tell where no --catalog is given: that of
// --hooks FILE, else one of the names that hooks answer.
func (o *serveOptions) described(spec dialect.Spec, entries []hook.Entry) (*catalog.Catalog, error) {
	c, err := o.hooks.catalog()
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = &catalog.Catalog{Catalog: 1, Info: catalog.Info{Name: "rpcx serve", Version: Version()}}
	}
	for _, e := range entries {
		name := e.Pattern
		if spec.WireName != nil {
			name = spec.WireName(name)
		}
		if !strings.Contains(name, "*") && c.Method(name) == nil {
			c.Methods = append(c.Methods, catalog.Method{Name: name})
		}
	}
	return c, nil
}

// readToken reads --token @FILE. A token on the command line would be seen by
// every user of the machine.
func readToken(given string) (string, error) {
	if given == "" {
		return "", nil
	}
	file, ok := strings.CutPrefix(given, "@")
	if !ok {
		return "", wire.NewFault(wire.Usage, "--token takes @FILE, so that the token is not on a command line", nil)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", wire.NewFault(wire.Usage, "--token: "+err.Error(), err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", wire.NewFault(wire.Usage, "--token: "+file+" is empty", nil)
	}
	return token, nil
}

// serveUntil waits for the end: of the command, of stdio's one connection, or a
// signal.
func (a *app) serveUntil(ctx context.Context, s *session.Server, served <-chan error, command []string) error {
	var ended <-chan error
	if command != nil {
		var err error
		if ended, err = runCommand(ctx, command, s.Endpoint()); err != nil {
			return err
		}
	}
	select {
	case err := <-served:
		return err
	case err := <-ended:
		return err
	case <-ctx.Done():
		if ended != nil {
			<-ended
		}
		return nil // the signal is the status
	}
}

// runCommand starts the command of `serve LISTEN -- COMMAND`. Its end is an
// exitStatus, nil for 0. When ctx ends its process group is asked to end, then
// forced.
func runCommand(ctx context.Context, words []string, endpoint string) (<-chan error, error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "RPCX_ENDPOINT="+endpoint)
	takeBack := transport.Foreground(cmd, os.Stdin)
	p, err := transport.StartProcess(cmd)
	if err != nil {
		takeBack()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		select {
		case <-p.Done():
		case <-ctx.Done():
		}
		p.End(farewell)
		takeBack()
		ended <- commandStatus(words[0], p.Wait())
	}()
	return ended, nil
}

// commandStatus makes the command's own status ours.
func commandStatus(name string, err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	code := exit.ExitCode()
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		code = 128 + int(ws.Signal())
	}
	return exitStatus{code: code, text: fmt.Sprintf("%s ended with status %d", name, code)}
}

// exitStatus is an error that is nothing but a status of its own: that of the
// command that we ran.
type exitStatus struct {
	code int
	text string
}

func (e exitStatus) Error() string { return e.text }
