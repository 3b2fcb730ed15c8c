package daemon

import (
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/options"
)

// Options holds the flags of connect for sessions, and those of the connection
// that a session holds.
type Options struct {
	options.Client
	Session SessionFlags
}

// SessionFlags holds the flags of connect that say how a session lives.
type SessionFlags struct {
	session   string
	ensure    bool
	idleExit  cmdline.Duration
	subscribe []string

	inboxTimeout cmdline.Duration
	inboxDefault string
}

// Flags returns the flags, which store into k.
func (k *SessionFlags) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Text(cmdline.GroupSession, "session", "", "keep the connection in the background as @`NAME`, and return when it is ready", &k.session),
		cmdline.Bool(cmdline.GroupSession, "ensure", "", "with --session: use a live session of that name if its endpoint, dialect, hooks, subscriptions and tape are the same", &k.ensure),
		cmdline.Generic(cmdline.GroupSession, "idle-exit", "with --session: end it when no command has been attached for `DURATION`; 0 never (1h)", &k.idleExit),
		cmdline.List(cmdline.GroupSession, "subscribe", "", "with --session: subscribe to `METHOD` (\"METHOD JSON\" with params; code in hotrepl) and keep the events for subscribe @NAME --since", &k.subscribe),
		cmdline.Generic(cmdline.GroupSession, "inbox-timeout", "with --session: a parked call that nobody answers gets its default after `DURATION`; 0 never (5m)", &k.inboxTimeout),
		cmdline.Text(cmdline.GroupSession, "inbox-default", "", "with --session: the answer to such a call, a `JSON` value (default: an error)", &k.inboxDefault),
	}
}

const (
	defaultIdleExit     = time.Hour
	defaultInboxTimeout = 5 * time.Minute
	defaultLease        = time.Minute
)
