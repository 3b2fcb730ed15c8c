package options

import (
	"context"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// Reconnect holds the flags for lost connections.
type Reconnect struct {
	on    bool
	limit cmdline.Duration
}

// Flags returns the flags, which store their values in r.
func (r *Reconnect) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Bool(cmdline.GroupConnection, "reconnect", "", "after the connection is lost, connect and subscribe again, and print a gap event", &r.on),
		cmdline.Generic(cmdline.GroupConnection, "reconnect-for", "reconnect for at most `DURATION` after the loss (5m; 0: no limit)", &r.limit),
	}
}

// Options returns how to reconnect, with a new token each time, or nil if the conversation ends with its connection.
func (r *Reconnect) Options(run *env.Env, c *Connection) *session.Reconnect {
	if !r.on && r.limit == 0 {
		return nil
	}
	o := &session.Reconnect{
		For:  r.limit.Or(0),
		Lost: func(why error) { run.Console.Warn(why.Error() + "; reconnecting") },
		Back: func(after time.Duration) { run.Console.Note("reconnected after " + rounded(after)) },
	}
	if c.tokened {
		o.Renew = func(ctx context.Context, cfg *transport.Config) error {
			cfg.Header = cfg.Header.Clone()
			return addToken(ctx, cfg.Header, c.token, run.Console)
		}
	}
	return o
}

func rounded(d time.Duration) string {
	unit := time.Second
	if d < 10*time.Second {
		unit = 10 * time.Millisecond
	}
	return d.Round(unit).String()
}
