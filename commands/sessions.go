package commands

import (
	"context"
	"strings"
	"time"

	"rpcx/wire/session"
)

// keepOptions are what `connect` was given of sessions, and of the connection that
// one is to hold.
type keepOptions struct {
	clientFlags
	session sessionFlags
}

// sessionFlags say what `connect` is to do with sessions.
type sessionFlags struct {
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

	next    bool
	method  string
	waitFor duration
	lease   duration
	reply   string
	reject  string
}

func (k *sessionFlags) flags() []Flag {
	return []Flag{
		text(groupSession, "session", "", "keep the connection in the background as @`NAME`, and return when it is live", &k.session),
		boolean(groupSession, "ensure", "", "with --session: be content with a live session of that name, endpoint, dialect and hooks", &k.ensure),
		generic(groupSession, "idle-exit", "with --session: end it when no command was attached for `DURATION`; 0 never (1h)", &k.idleExit),
		list(groupSession, "subscribe", "", "with --session: subscribe to `METHOD` (\"METHOD JSON\" with params; code in hotrepl) and keep the events for subscribe @NAME --since", &k.subscribe),
		generic(groupSession, "inbox-timeout", "with --session: a parked call that nobody answers gets its default after `DURATION`; 0 never (5m)", &k.inboxTimeout),
		text(groupSession, "inbox-default", "", "with --session: what such a call is answered, a `JSON` value (else an error)", &k.inboxDefault),
		boolean(groupSession, "list", "", "list the sessions of this user", &k.list),
		text(groupSession, "status", "", "tell how the session `NAME` is, as JSON", &k.status),
		text(groupSession, "close", "", "end the session `NAME`", &k.close),
		boolean(groupSession, "close-all", "", "end every session of this user", &k.closeAll),
		boolean(groupInbox, "next", "", "with @NAME: claim the oldest call that `--on NAME=inbox` has parked, and print it as one line", &k.next),
		text(groupInbox, "method", "", "with --next: only calls of the method `NAME`", &k.method),
		positive(groupInbox, "for", "with --next: wait for `DURATION` at most (status 124 then; unbounded)", &k.waitFor),
		positive(groupInbox, "lease", "with --next: others can claim the call again when it is not answered after `DURATION` (60s)", &k.lease),
		text(groupInbox, "reply", "", "`ID VALUE`: answer a parked call of @NAME with a JSON value (- reads it from stdin)", &k.reply),
		text(groupInbox, "reject", "", "`ID CODE TEXT`: answer a parked call of @NAME with an error", &k.reject),
	}
}

const (
	defaultIdleExit     = time.Hour
	defaultInboxTimeout = 5 * time.Minute
	defaultLease        = time.Minute
)

// An action is one of the things that `connect` does beside conversing. Each flag
// of the first column asks for one; those of the second go with it alone.
type action struct {
	flag   string
	with   []string
	args   int // how many arguments it takes: the endpoint, or none
	run    func(ctx context.Context, a *app, o *keepOptions) error
	silent bool // it prints nothing
}

func actions() []action {
	return []action{
		{"session", []string{"ensure", "idle-exit", "subscribe", "inbox-timeout", "inbox-default"}, 1, runSession, true},
		{"list", nil, 0, runList, false},
		{"status", nil, 0, runStatus, false},
		{"close", nil, 0, runClose, false},
		{"close-all", nil, 0, runCloseAll, false},
		{"next", []string{"method", "for", "lease"}, 1, runNext, false},
		{"reply", nil, 1, runReply, false},
		{"reject", nil, 1, runReject, false},
	}
}

// action finds what the line asks for; nil is a conversation.
func (l *commandLine) action() (*action, error) {
	var found *action
	all := actions()
	for i := range all {
		if !l.has(all[i].flag) {
			continue
		}
		if found != nil {
			return nil, l.usage("--%s and --%s do not go together", found.flag, all[i].flag)
		}
		found = &all[i]
	}
	for _, d := range all {
		for _, f := range d.with {
			if l.has(f) && (found == nil || found.flag != d.flag) {
				return nil, l.usage("--%s goes with --%s", f, d.flag)
			}
		}
	}
	if found != nil && found.silent {
		if err := l.refuseOutput(found.flag); err != nil {
			return nil, err
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

// refuseOutput refuses the flags that say what is printed, where nothing is. Those that
// name values for jq are for hooks too.
func (l *commandLine) refuseOutput(deed string) error {
	for _, known := range l.cmd.Flags {
		name, group := longFirst(known.Names())[0], groupOf(known)
		prints := group == groupOutput || group == groupExpect
		if prints && name != "arg" && name != "argjson" && l.has(name) {
			f := l.usage("--%s says what is printed, and --%s prints nothing", name, deed)
			f.Hint = "give it to a command that uses the session"
			return f
		}
	}
	return nil
}

// attach reaches the session NAME or @NAME.
func (a *app) attach(ctx context.Context, name string) (*session.Control, error) {
	return session.Attach(ctx, strings.TrimPrefix(name, "@"))
}

// attachFirst reaches the session that the first argument names.
func (a *app) attachFirst(ctx context.Context, o *keepOptions) (*session.Control, *deadline, error) {
	if len(a.line.args) == 0 {
		return nil, nil, a.line.usage("whose inbox? Name the session as @NAME")
	}
	e, _, err := a.endpoint(ctx, o.conn.dialect)
	if err != nil {
		return nil, nil, err
	}
	if e.Session == "" {
		f := a.line.usage("an inbox is a session's, and %s is none", e)
		f.Hint = "name it as @NAME; rpcx connect --list lists the sessions"
		return nil, nil, f
	}
	return e.Control(), newDeadline(ctx, o.time.timeout.or(0), 0), nil
}
