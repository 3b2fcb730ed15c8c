package daemon

import (
	"context"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/request"
	"rpcx/wire/session/daemon"
)

// An action is one of the things that connect does beside conversing. Its flag
// asks for it; the flags in with go with it alone.
type action struct {
	flag   string
	with   []string
	args   int // how many arguments it takes: the endpoint, or none
	Run    func(ctx context.Context, a *env.Env, o *Options) error
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

// FindAction returns the action that the line asks for; nil for a conversation.
func FindAction(l *cmdline.CommandLine) (*action, error) {
	var found *action
	all := actions()
	for i := range all {
		if !l.Has(all[i].flag) {
			continue
		}
		if found != nil {
			return nil, l.Usage("--%s and --%s do not go together", found.flag, all[i].flag)
		}
		found = &all[i]
	}
	for _, d := range all {
		for _, f := range d.with {
			if l.Has(f) && (found == nil || found.flag != d.flag) {
				return nil, l.Usage("--%s goes with --%s", f, d.flag)
			}
		}
	}
	if found != nil && found.silent {
		if err := refuseOutput(l, found.flag); err != nil {
			return nil, err
		}
	}
	if found != nil && len(l.Args) != found.args {
		if found.args == 0 {
			return nil, l.Usage("--%s takes no endpoint: not %q", found.flag, l.Args[0])
		}
		if len(l.Args) > 1 {
			return nil, l.Usage("connect takes an endpoint and nothing else, not %q", l.Args[1])
		}
	}
	return found, nil
}

// refuseOutput refuses the flags that say what is printed for an action that
// prints nothing. --arg and --argjson pass: hooks use them, too.
func refuseOutput(l *cmdline.CommandLine, deed string) error {
	for _, known := range l.Cmd.Flags {
		name, group := cmdline.LongFirst(known.Names())[0], cmdline.GroupOf(known)
		prints := group == cmdline.GroupOutput || group == cmdline.GroupExpect
		if prints && name != "arg" && name != "argjson" && l.Has(name) {
			f := l.Usage("--%s says what is printed, and --%s prints nothing", name, deed)
			f.Hint = "give it to a command that uses the session"
			return f
		}
	}
	return nil
}

// attach connects to the process of the session NAME or @NAME.
func attach(ctx context.Context, name string) (*daemon.Control, error) {
	return daemon.Attach(ctx, strings.TrimPrefix(name, "@"))
}

// attachFirst connects to the session that the first argument names.
func attachFirst(ctx context.Context, a *env.Env, o *Options) (*daemon.Control, *env.Deadline, error) {
	if len(a.Line.Args) == 0 {
		return nil, nil, a.Line.Usage("whose inbox? Name the session as @NAME")
	}
	e, _, err := request.Endpoint(ctx, a, o.Conn.Dialect)
	if err != nil {
		return nil, nil, err
	}
	if e.Session == "" {
		f := a.Line.Usage("an inbox is a session's, and %s is none", e)
		f.Hint = "name it as @NAME; rpcx connect --list lists the sessions"
		return nil, nil, f
	}
	return daemon.ControlOf(a.Reached, e.Session), env.NewDeadline(ctx, o.Time.Timeout.Or(0), 0), nil
}
