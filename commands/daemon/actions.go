package daemon

import (
	"context"
	"slices"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// sessionOnly are the flags that need --session.
var sessionOnly = []string{"ensure", "idle-exit", "subscribe", "inbox-timeout", "inbox-default"}

// Asked reports whether the line opens a session instead of a conversation.
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

// Keep opens the session of the line, and returns when it is ready. In the session's own process, it returns when the
// session ends.
func Keep(ctx context.Context, run *env.Env, o *Options) error {
	if len(run.Line.Args) > 1 {
		return run.Line.Usage("connect takes only ENDPOINT, not %q", run.Line.Args[1])
	}
	return runSession(ctx, run, o)
}

// refuseOutput returns an error for flags about output or the prompt, because --session has neither. --arg and
// --argjson are allowed, because hooks use them, too.
func refuseOutput(l *cmdline.CommandLine) error {
	for _, known := range l.Cmd.Flags {
		name, group := cmdline.LongFirst(known.Names())[0], cmdline.GroupOf(known)
		prints := group == cmdline.GroupOutput || group == cmdline.GroupExpect
		prints = prints || slices.Contains([]string{"count", "until", "for"}, name)
		if prints && name != "arg" && name != "argjson" && l.Has(name) {
			f := l.Usage("--%s is for output, but --session prints nothing", name)
			f.Hint = "use it in a command on the session"
			return f
		}
	}
	for _, flag := range []string{"catalog", "no-check"} {
		if l.Has(flag) {
			f := l.Usage("--%s is for the prompt, but --session has no prompt", flag)
			f.Hint = "use it in a command on the session"
			return f
		}
	}
	return nil
}
