package daemon

import (
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/options"
)

// Options holds the flags of connect for sessions and their connections.
type Options struct {
	options.Client
	Session SessionFlags
}

// SessionFlags holds the flags of connect for sessions.
type SessionFlags struct {
	session   string
	ensure    bool
	idleExit  cmdline.Duration
	subscribe []string

	inboxTimeout cmdline.Duration
	inboxDefault string
}

// Flags returns the flags, which store their values in k.
func (k *SessionFlags) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Text(cmdline.GroupSession, "session", "", "keep the connection in the background as @`NAME`", &k.session),
		cmdline.Bool(cmdline.GroupSession, "ensure", "", "use the session of that name if it has the same endpoint, dialect, hooks, subscriptions and tape", &k.ensure),
		cmdline.Generic(cmdline.GroupSession, "idle-exit", "close the session after `DURATION` without a command (1h; 0: never)", &k.idleExit),
		cmdline.List(cmdline.GroupSession, "subscribe", "", "subscribe to `METHOD` (\"METHOD JSON\" with params) and keep the events for subscribe @NAME --since", &k.subscribe),
		cmdline.Generic(cmdline.GroupSession, "inbox-timeout", "answer a pending call of the inbox with its default after `DURATION` (5m; 0: never)", &k.inboxTimeout),
		cmdline.Text(cmdline.GroupSession, "inbox-default", "", "the default answer of the inbox, a `JSON` value (an error)", &k.inboxDefault),
	}
}

const (
	defaultIdleExit     = time.Hour
	defaultInboxTimeout = 5 * time.Minute
	defaultLease        = time.Minute
)
