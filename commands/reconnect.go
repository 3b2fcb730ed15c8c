package commands

import (
	"context"
	"time"

	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// reconnectFlags say what becomes of a connection that is lost.
type reconnectFlags struct {
	on    bool
	limit duration
}

func (r *reconnectFlags) flags() []Flag {
	return []Flag{
		boolean(groupConnection, "reconnect", "", "when the connection is lost, dial again, subscribe again and say so with a gap event", &r.on),
		generic(groupConnection, "reconnect-for", "--reconnect, given up `DURATION` after the loss; 0 is never (5m)", &r.limit),
	}
}

// options are what a conversation is to do; nil where the loss of its connection
// is its end.
func (r *reconnectFlags) options(a *app, c *connFlags) *session.Reconnect {
	if !r.on && r.limit == 0 {
		return nil
	}
	o := &session.Reconnect{
		For:  r.limit.or(0),
		Lost: func(why error) { a.console.Warn(why.Error() + "; dialling again") },
		Back: func(after time.Duration) { a.console.Note("connected again after " + shortly(after)) },
	}
	if c.tokened {
		o.Renew = func(ctx context.Context, cfg *transport.Config) error {
			cfg.Header = cfg.Header.Clone()
			return addToken(ctx, cfg.Header, c.token, a.console)
		}
	}
	return o
}

// shortly is d for people.
func shortly(d time.Duration) string {
	unit := time.Second
	if d < 10*time.Second {
		unit = 10 * time.Millisecond
	}
	return d.Round(unit).String()
}
