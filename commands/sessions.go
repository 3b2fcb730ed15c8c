package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/profile"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// keepFlags say what `connect` is to do with sessions.
type keepFlags struct {
	session   string
	ensure    bool
	idleExit  duration
	subscribe []string

	inboxTimeout duration
	inboxDefault string

	list     bool
	status   string
	close    string
	closeAll bool

	next   bool
	method string
	length duration
	lease  duration
	reply  string
	reject string
}

func (k *keepFlags) flags() []cli.Flag {
	return []cli.Flag{
		text(groupSession, "session", "", "keep the connection in the background as @`NAME`, and return when it is live", &k.session),
		boolean(groupSession, "ensure", "", "with --session: be content with a live session of that name, endpoint, dialect and hooks", &k.ensure),
		generic(groupSession, "idle-exit", "with --session: end it when no command was attached for `DURATION`; 0 never (1h)", &k.idleExit),
		list(groupSession, "subscribe", "", "with --session: subscribe to `METHOD` (\"METHOD JSON\" with params) and keep the events for subscribe @NAME --since", &k.subscribe),
		generic(groupSession, "inbox-timeout", "with --session: a parked call that nobody answers gets its default after `DURATION`; 0 never (5m)", &k.inboxTimeout),
		text(groupSession, "inbox-default", "", "with --session: what such a call is answered, a `JSON` value (else an error)", &k.inboxDefault),
		boolean(groupSession, "list", "", "list the sessions of this user", &k.list),
		text(groupSession, "status", "", "tell how the session `NAME` is, as JSON", &k.status),
		text(groupSession, "close", "", "end the session `NAME`", &k.close),
		boolean(groupSession, "close-all", "", "end every session of this user", &k.closeAll),
		boolean(groupInbox, "next", "", "with @NAME: claim the oldest call that `--on NAME=inbox` has parked, and print it as one line", &k.next),
		text(groupInbox, "method", "", "with --next: only calls of the method `NAME`", &k.method),
		generic(groupInbox, "for", "with --next: wait for `DURATION` at most (status 124 then; unbounded)", span{&k.length}),
		generic(groupInbox, "lease", "with --next: others can claim the call again when it is not answered after `DURATION` (60s)", span{&k.lease}),
		text(groupInbox, "reply", "", "`ID VALUE`: answer a parked call of @NAME with a JSON value (- reads it from stdin)", &k.reply),
		text(groupInbox, "reject", "", "`ID CODE TEXT`: answer a parked call of @NAME with an error", &k.reject),
	}
}

const (
	defaultIdleExit     = time.Hour
	defaultInboxTimeout = 5 * time.Minute
	defaultLease        = time.Minute
)

// A deed is one of the things that `connect` does beside conversing. Each flag
// of the first column asks for one; those of the second go with it alone.
type deed struct {
	flag string
	with []string
	args int // how many arguments it takes: the endpoint, or none
	run  func(ctx context.Context, a *app, o *connectOptions) error
}

func deeds() []deed {
	return []deed{
		{"session", []string{"ensure", "idle-exit", "subscribe", "inbox-timeout", "inbox-default"}, 1, runSession},
		{"list", nil, 0, runList},
		{"status", nil, 0, runStatus},
		{"close", nil, 0, runClose},
		{"close-all", nil, 0, runCloseAll},
		{"next", []string{"method", "for", "lease"}, 1, runNext},
		{"reply", nil, 1, runReply},
		{"reject", nil, 1, runReject},
	}
}

// deed finds what the line asks for; nil is a conversation.
func (l *line) deed() (*deed, error) {
	var found *deed
	all := deeds()
	for i := range all {
		if !l.gave(all[i].flag) {
			continue
		}
		if found != nil {
			return nil, l.usage("--%s and --%s do not go together", found.flag, all[i].flag)
		}
		found = &all[i]
	}
	for _, d := range all {
		for _, f := range d.with {
			if l.gave(f) && (found == nil || found.flag != d.flag) {
				return nil, l.usage("--%s goes with --%s", f, d.flag)
			}
		}
	}
	if found != nil && len(l.args) != found.args {
		if found.args == 0 {
			return nil, l.usage("--%s takes no endpoint: not %q", found.flag, l.args[0])
		}
		if len(l.args) > 1 {
			return nil, l.usage("connect takes an endpoint and nothing else, not %q", l.args[1])
		}
	}
	return found, nil
}

// attach reaches the session NAME or @NAME.
func (a *app) attach(ctx context.Context, name string) (*session.Control, error) {
	return session.Attach(ctx, strings.TrimPrefix(name, "@"))
}

// attachFirst reaches the session that the first argument names.
func (a *app) attachFirst(ctx context.Context, o *connectOptions) (*session.Control, *clock, error) {
	e, _, err := a.endpoint(ctx, o.conn.dialect)
	if err != nil {
		return nil, nil, err
	}
	if e.Session == "" {
		f := a.line.usage("an inbox is a session's, and %s is none", e)
		f.Hint = "name it as @NAME; rpcx connect --list lists the sessions"
		return nil, nil, f
	}
	return e.Control(), start(ctx, o.time.timeout.or(0), 0), nil
}

func runStatus(ctx context.Context, a *app, o *connectOptions) error {
	print, err := a.printer(session.Endpoint{}, &o.out, format.Options{})
	if err != nil {
		return err
	}
	c, err := a.attach(ctx, o.keep.status)
	if err != nil {
		return why(ctx, err)
	}
	defer c.Detach()
	status, err := c.Status(ctx)
	if err != nil {
		return why(ctx, err)
	}
	return printValues(ctx, print, status)
}

// printValues prints values of our own, each as a line.
func printValues(ctx context.Context, print *format.Pipeline, values ...json.RawMessage) error {
	for _, v := range values {
		stop, err := print.Print(ctx, wire.Message{Raw: v}, wire.Event{Kind: wire.Data, Data: v})
		if err != nil {
			return errors.Join(err, print.Flush())
		}
		if stop {
			break
		}
	}
	return print.Finish()
}

func runList(ctx context.Context, a *app, o *connectOptions) error {
	all, err := session.List(ctx)
	if err != nil {
		return why(ctx, err)
	}
	if a.out.Terminal && o.out.output == "" && o.out.jq == "" && !o.out.compact && !o.out.pretty && o.out.template == "" {
		rows := [][]string{{"session", "state", "dialect", "age", "endpoint"}}
		for _, s := range all {
			age := time.Duration(s.Age * float64(time.Second)).Round(time.Second)
			rows = append(rows, []string{"@" + s.Name, s.State, s.Dialect, age.String(), format.CleanLine(s.Endpoint)})
		}
		return say(os.Stdout, format.Table(rows, a.out.Width, a.out.Color))
	}
	print, err := a.printer(session.Endpoint{}, &o.out, format.Options{})
	if err != nil {
		return err
	}
	var lines []json.RawMessage
	for _, s := range all {
		line, err := json.Marshal(s)
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	return printValues(ctx, print, lines...)
}

func runClose(ctx context.Context, a *app, o *connectOptions) error {
	return a.closeSession(ctx, o.keep.close)
}

func (a *app) closeSession(ctx context.Context, name string) error {
	c, err := a.attach(ctx, name)
	if err == nil {
		defer c.Detach()
		err = c.End(ctx)
	}
	return why(ctx, err)
}

func runCloseAll(ctx context.Context, a *app, _ *connectOptions) error {
	all, err := session.List(ctx)
	for _, s := range all {
		cerr := a.closeSession(ctx, s.Name)
		if f := wire.AsFault(cerr); f != nil && f.Kind == wire.Unreachable {
			continue // it ended meanwhile
		}
		err = errors.Join(err, cerr)
	}
	return why(ctx, err)
}

func runNext(ctx context.Context, a *app, o *connectOptions) error {
	print, err := a.printer(session.Endpoint{}, &o.out, format.Options{})
	if err != nil {
		return err
	}
	c, cl, err := a.attachFirst(ctx, o)
	if err != nil {
		return err
	}
	defer cl.stop()
	defer c.Detach()
	if o.keep.length > 0 {
		end := time.AfterFunc(time.Duration(o.keep.length), func() {
			cl.cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("no call was parked within %v (--for)", time.Duration(o.keep.length)), nil))
		})
		defer end.Stop()
	}
	err = c.Next(cl.ctx, o.keep.method, o.keep.lease.or(defaultLease), func(line json.RawMessage) error {
		return printValues(cl.ctx, print, line)
	})
	return why(cl.ctx, err)
}

// parkedID reads the ID of --reply and --reject.
func parkedID(flag, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, wire.NewFault(wire.Usage, fmt.Sprintf("%s: %q is no ID: it is the \"id\" that --next has printed", flag, text), nil)
	}
	return id, nil
}

func runReply(ctx context.Context, a *app, o *connectOptions) error {
	text, value, _ := strings.Cut(o.keep.reply, "=")
	id, err := parkedID("--reply", text)
	if err != nil {
		return err
	}
	raw := []byte(value)
	if value == "-" {
		if raw, err = readStdin(ctx); err != nil {
			return err
		}
	}
	raw = trimBlank(raw)
	if err := scan.Valid(raw, wire.DefaultMaxDepth); err != nil {
		return wire.NewFault(wire.Usage, "--reply: the value is no JSON: "+err.Error(), err)
	}
	c, cl, err := a.attachFirst(ctx, o)
	if err != nil {
		return err
	}
	defer cl.stop()
	defer c.Detach()
	return why(cl.ctx, c.Reply(cl.ctx, id, raw))
}

func runReject(ctx context.Context, a *app, o *connectOptions) error {
	words := strings.SplitN(o.keep.reject, "=", 3)
	id, err := parkedID("--reject", words[0])
	if err != nil {
		return err
	}
	if _, err := strconv.ParseInt(words[1], 10, 64); err != nil {
		return wire.NewFault(wire.Usage, fmt.Sprintf("--reject: the code %q is no whole number", words[1]), nil)
	}
	c, cl, err := a.attachFirst(ctx, o)
	if err != nil {
		return err
	}
	defer cl.stop()
	defer c.Detach()
	return why(cl.ctx, c.Reject(cl.ctx, id, &wire.Error{Code: json.RawMessage(words[1]), Message: words[2]}))
}

// keeping reads what a session is to be like. e is its endpoint.
func (o *connectOptions) keeping(a *app, e session.Endpoint) (session.Keep, error) {
	k := session.Keep{
		Name:         o.keep.session,
		IdleExit:     max(o.keep.idleExit.or(defaultIdleExit), 0),
		InboxTimeout: max(o.keep.inboxTimeout.or(defaultInboxTimeout), 0),
	}
	if err := session.CheckName(k.Name); err != nil {
		return k, err
	}
	if names, err := profile.Names(); err != nil {
		return k, err
	} else if slices.Contains(names, k.Name) {
		return k, wire.NewFault(wire.Usage, fmt.Sprintf("%s is a profile's name, so no session can have it", k.Name), nil)
	}
	if e.Socket != "" {
		return k, a.line.usage("a session needs a connection of its own: %s is one already", e)
	}
	if e.Address.Scheme == "stdio" {
		return k, a.line.usage("stdio: cannot go to the background")
	}
	if o.keep.inboxDefault != "" {
		k.InboxDefault = json.RawMessage(strings.TrimSpace(o.keep.inboxDefault))
		if err := scan.Valid(k.InboxDefault, wire.DefaultMaxDepth); err != nil {
			return k, wire.NewFault(wire.Usage, "--inbox-default is no JSON: "+err.Error(), err)
		}
	}
	for _, s := range o.keep.subscribe {
		op, err := subscription(s)
		if err != nil {
			return k, err
		}
		k.Subscribe = append(k.Subscribe, op)
	}
	var err error
	k.Fingerprint, err = o.fingerprint(e)
	return k, err
}

// subscription reads METHOD, or METHOD and its params as JSON.
func subscription(given string) (dialect.Op, error) {
	method, params, found := strings.Cut(strings.TrimSpace(given), " ")
	op := dialect.Op{Kind: dialect.Subscribe, Method: method}
	if method == "" {
		return op, wire.NewFault(wire.Usage, "--subscribe needs a method", nil)
	}
	if found {
		op.Params = json.RawMessage(strings.TrimSpace(params))
		if err := scan.Valid(op.Params, wire.DefaultMaxDepth); err != nil {
			f := wire.NewFault(wire.Usage, fmt.Sprintf("--subscribe %s: the params are no JSON: %v", wire.Quote(given), err), err)
			f.Hint = `write METHOD, or "METHOD JSON"`
			return op, f
		}
		if t := scan.Type(op.Params); t != 'o' && t != 'a' {
			return op, wire.NewFault(wire.Usage, fmt.Sprintf("--subscribe %s: params are an object or an array", wire.Quote(given)), nil)
		}
	}
	return op, nil
}

// fingerprint tells whether two sessions are the same: their endpoints, dialects,
// hooks and subscriptions. What depends on the folder counts with it.
func (o *connectOptions) fingerprint(e session.Endpoint) (string, error) {
	here := ""
	local := e.Address.Path != "" && !filepath.IsAbs(e.Address.Path)
	if local || len(e.Address.Command) > 0 || len(o.hooks.on) > 0 || len(o.hooks.files) > 0 {
		var err error
		if here, err = os.Getwd(); err != nil {
			return "", err
		}
	}
	return session.Fingerprint(e, here, o.hooks.on, o.hooks.files, o.keep.subscribe), nil
}
