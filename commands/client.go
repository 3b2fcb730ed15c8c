package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/textproto"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// endpoint reads the first argument.
func (a *app) endpoint(dialect string) (session.Endpoint, []string, error) {
	args := a.line.args
	if len(args) == 0 {
		f := a.line.usage("an endpoint is missing")
		f.Hint = "name one, such as ws://host/path, exec:COMMAND or demo:orders"
		return session.Endpoint{}, nil, f
	}
	e, err := session.ParseEndpoint(args[0], dialect)
	return e, args[1:], err
}

// open connects with the flags of a client. raw says that the traffic itself is
// wanted.
func (a *app) open(ctx context.Context, e session.Endpoint, c *clientFlags, cat *catalog.Catalog, raw bool) (session.Conversation, error) {
	o, err := a.sessionOptions(ctx, &c.conn, &c.hooks)
	if err != nil {
		return nil, err
	}
	o.Raw, o.Catalog = raw, cat
	conv, err := session.Open(ctx, e, o)
	if cause := wire.AsFault(context.Cause(ctx)); err != nil && cause != nil {
		return nil, cause
	}
	return conv, err
}

// sessionOptions are what both sides need.
func (a *app) sessionOptions(ctx context.Context, c *connFlags, h *hookFlags) (session.Options, error) {
	entries, err := h.entries()
	if err != nil {
		return session.Options{}, err
	}
	cfg, err := a.transportConfig(ctx, c)
	return session.Options{
		Transport: cfg,
		Hooks:     entries,
		Hook: hook.Options{
			Jobs: int(h.jobs), Timeout: time.Duration(h.timeout),
			Stderr: a.console.Writer(), Warn: a.console.Warn,
		},
		Tap:  a.tap(),
		Note: a.noter(),
	}, err
}

// entries reads --on, then --hooks.
func (h *hookFlags) entries() ([]hook.Entry, error) {
	var all []hook.Entry
	for _, spec := range h.on {
		e, err := hook.Parse(spec)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	for _, path := range h.files {
		info, err := os.Stat(path)
		if err != nil {
			return nil, wire.NewFault(wire.Usage, "--hooks: "+err.Error(), err)
		}
		var entries []hook.Entry
		if info.IsDir() {
			entries, err = hook.FromDir(path)
		} else {
			entries, _, err = hook.FromFile(path)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

// stepBound bounds each step of closing (a child's stdin closed, then asked,
// then forced), so that all of them together stay within what Ctrl-C promises.
const stepBound = time.Second

func (a *app) transportConfig(ctx context.Context, c *connFlags) (transport.Config, error) {
	cfg := transport.Config{
		Options:        wire.Options{MaxMessage: int(c.maxMessage), NoiseLimit: session.NoiseLimit, Noise: a.noise},
		Subprotocols:   c.subprotocols,
		TLS:            transport.TLS{CACert: c.cacert, Cert: c.cert, Key: c.key, Insecure: c.insecure},
		ConnectTimeout: time.Duration(c.connect),
		Ping:           time.Duration(c.ping),
		CloseTimeout:   stepBound,
		Stderr:         a.console.Writer(),
		Warn:           a.console.Warn,
	}
	if c.noise >= 0 {
		cfg.NoiseLimit = int(c.noise)
	}
	var err error
	if cfg.Header, err = readHeaders(c.headers); err == nil && c.token != "" {
		err = addToken(ctx, cfg.Header, c.token, a.console)
	}
	return cfg, err
}

// readHeaders reads "Name: value" lines and files of them.
func readHeaders(given []string) (http.Header, error) {
	h := http.Header{}
	for _, g := range given {
		lines := []string{g}
		if file, ok := strings.CutPrefix(g, "@"); ok {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, wire.NewFault(wire.Usage, "--header: "+err.Error(), err)
			}
			lines = strings.Split(string(b), "\n")
		}
		for _, l := range lines {
			l = strings.TrimRight(l, "\r")
			if strings.TrimSpace(l) == "" {
				continue
			}
			name, value, ok := strings.Cut(l, ":")
			if !ok || name == "" || strings.ContainsAny(name, " \t") || strings.ContainsAny(value, "\x00\r\n") {
				return nil, wire.NewFault(wire.Usage, `--header: a header is one line, "Name: value"`, nil)
			}
			h.Add(textproto.CanonicalMIMEHeaderKey(name), strings.TrimSpace(value))
		}
	}
	return h, nil
}

// addToken runs the token command of section 7 of the design.
func addToken(ctx context.Context, h http.Header, command string, stderr *format.Console) error {
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, stderr.Writer(), stepBound
	p, err := transport.StartProcess(cmd)
	if err == nil {
		stop := context.AfterFunc(ctx, func() { p.End(stepBound) })
		err = p.Wait()
		stop()
	}
	if ctx.Err() != nil {
		return why(ctx, ctx.Err())
	}
	if err != nil {
		return wire.NewFault(wire.Auth, "--token-command failed: "+err.Error(), err)
	}
	first, _, _ := bytes.Cut(out.Bytes(), []byte("\n"))
	token := string(bytes.TrimSpace(first))
	if token == "" {
		return wire.NewFault(wire.Auth, "--token-command printed nothing", nil)
	}
	h.Set("Authorization", "Bearer "+token)
	return nil
}

// noise shows a line of a child that is no message.
func (a *app) noise(line []byte) { a.console.Child(line) }

// tap traces messages with -v.
func (a *app) tap() wire.Tap {
	if !a.common.verbose {
		return nil
	}
	return func(d wire.Direction, msg []byte) { a.console.Trace(d, msg, time.Since(a.started)) }
}

// noter says once per method what nobody answers; the rest is for -v.
func (a *app) noter() func(peer.Note) {
	var mu sync.Mutex
	said := map[string]bool{}
	return func(n peer.Note) {
		if n.Kind == peer.NoteUnhandledRequest {
			mu.Lock()
			first := !said[n.Method]
			said[n.Method] = true
			mu.Unlock()
			if first {
				a.console.Warn(fmt.Sprintf("the peer called %s, which nothing answers (--on NAME=ANSWER does)", format.CleanLine(n.Method)))
			}
			return
		}
		if a.common.verbose || n.Kind != peer.NoteUnhandledNotification {
			a.console.Warn(n.Text)
		}
	}
}

// printer makes the pipeline for stdout.
func (a *app) printer(o *outFlags, more format.Options) (*format.Pipeline, error) {
	vars, err := o.vars()
	if err != nil {
		return nil, err
	}
	more.Events, more.Raw, more.Null = o.events, o.raw, o.null
	more.Pretty = (a.out.Terminal || o.pretty) && !o.compact
	more.Color, more.Terminal = a.out.Color, a.out.Terminal
	more.JQ, more.RawStrings, more.Vars, more.Template = o.jq, o.rawStrings, vars, o.template
	more.Expect, more.ExpectAny, more.ExpectNone = o.expect, o.expectAny, o.expectNone
	more.ExpectError = o.expectError
	if o.expectCount >= 0 {
		more.ExpectCount = &o.expectCount
	}
	more.Debug = a.console.Writer()
	if a.out.Terminal && a.err.Terminal {
		more.BeforeWrite = a.console.Clear
	}
	return format.New(os.Stdout, more)
}

// vars reads --arg and --argjson.
func (o *outFlags) vars() (map[string]json.RawMessage, error) {
	vars := map[string]json.RawMessage{}
	for _, p := range o.args {
		name, value, _ := strings.Cut(p, "=")
		if !isName(name) {
			return nil, wire.NewFault(wire.Usage, fmt.Sprintf("--arg: %q is no name of a variable", name), nil)
		}
		vars[name] = wire.AppendString(nil, value)
	}
	for _, p := range o.jsonArgs {
		name, value, _ := strings.Cut(p, "=")
		if !isName(name) {
			return nil, wire.NewFault(wire.Usage, fmt.Sprintf("--argjson: %q is no name of a variable", name), nil)
		}
		if err := scan.Valid([]byte(value), wire.DefaultMaxDepth); err != nil {
			return nil, wire.NewFault(wire.Usage, fmt.Sprintf("--argjson %s: the value is no JSON: %v", name, err), err)
		}
		vars[name] = json.RawMessage(value)
	}
	return vars, nil
}

// isName says that jq takes it for a variable's name.
func isName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// loadCatalog reads --catalog; nil when there is none.
func loadCatalog(file string) (*catalog.Catalog, error) {
	if file == "" {
		return nil, nil
	}
	c, err := catalog.Load(file)
	if err == nil {
		catalog.StripRun(c)
	}
	return c, err
}
