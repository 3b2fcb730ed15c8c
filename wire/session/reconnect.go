package session

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport"
)

// A Reconnect configures how rpcx connects again when it loses a connection. Subscriptions and watches continue on the
// new connection after a wire.Gap event, because it is not known which messages were missed. Pending calls fail,
// because they may already have had an effect. New operations wait for the new connection.
type Reconnect struct {
	// For is how long rpcx tries to reconnect. After that, the conversation ends with a Fault of kind Closed. A value
	// of 0 means 5 minutes, and a negative value means no limit.
	For time.Duration
	// Lost is called with the reason when a connection is lost. Back is called with the time since the loss when there
	// is a new connection. Both may be nil.
	Lost func(why error)
	Back func(after time.Duration)
	// Renew may change the transport's configuration after the peer has refused the connection, for example because a
	// token has expired. It is called once for each loss, and may be nil.
	Renew func(ctx context.Context, c *transport.Config) error
}

const (
	defaultReconnect = 5 * time.Minute
	firstPause       = 250 * time.Millisecond
	longestPause     = 30 * time.Second
	// stableAfter is how long a connection must last to count as stable. After a stable connection, the pauses between
	// attempts start again with the shortest.
	stableAfter = 10 * time.Second
)

// redialled returns a usage Fault if rpcx cannot reconnect to e.
func redialled(e endpoint.Endpoint) error {
	switch {
	case e.Socket != "":
		return wire.Usagef("--reconnect does not apply to %s: another process owns the connection", e)
	case e.IsHTTP():
		return wire.Usagef("--reconnect does not apply to HTTP POST, which has no lasting connection")
	case e.Address.Scheme == "stdio", e.Address.Scheme == "ipc" && len(e.Address.Command) == 0:
		return wire.Usagef("--reconnect does not apply to %s: rpcx cannot open it again", e)
	}
	return nil
}

// fullJitter returns a random pause of at most most. It spreads the reconnects of a server's clients over time.
func fullJitter(most time.Duration) time.Duration { return rand.N(most + 1) }

// A redialer replaces the lost connections of a conversation, and records since when there has been none.
type redialer struct {
	d      *Direct
	ctx    context.Context // ended by Close
	cancel context.CancelFunc
	jitter func(most time.Duration) time.Duration // chooses the pause between attempts
	done   chan struct{}                          // closed when the redialer has ended
	since  time.Time
	most   time.Duration // the limit of the last pause; the next limit is twice as long
}

// start begins to replace lost connections. It stops when that fails for good or the conversation is closed. l is the
// first link.
func (k *redialer) start(l *link) {
	go func() {
		defer wire.Guard()
		defer close(k.done)
		defer k.cancel()
		for l != nil {
			l = k.next(l)
		}
	}()
}

// next waits until l is lost and returns the link that replaces it. It returns nil if there will be none.
func (k *redialer) next(l *link) *link {
	wire.Either(l.p.Done(), k.ctx.Done())
	_ = l.close()
	why := l.p.Err()
	if k.ctx.Err() != nil || !transient(why) {
		k.d.finish(why, nil)
		return nil
	}
	next, err := k.redial(l, why)
	if err != nil {
		k.d.finish(err, err)
	}
	return next
}

// pause returns the time until the next attempt. If the peer connects to rpcx, it returns 0, because the listener must
// stay open.
func (k *redialer) pause() time.Duration {
	if k.d.endpoint.Reversed == endpoint.Accept {
		return 0
	}
	k.most = min(max(2*k.most, firstPause), longestPause)
	return k.jitter(k.most)
}

// redial opens the link after l and opens the streams again on it. If the last connection received no message, it
// counts as a failed attempt. Otherwise rpcx would connect again and again to a server that accepts connections and
// closes them.
func (k *redialer) redial(l *link, why error) (*link, error) {
	d := k.d
	lasted := time.Since(l.born) >= stableAfter
	if lasted {
		k.most = 0
	}
	if lasted || l.received.Load() || k.since.IsZero() {
		k.since = time.Now()
	}
	d.mu.Lock()
	d.link = nil
	d.mu.Unlock()
	if d.hub != nil {
		d.hub.disconnected()
	}
	if lost := d.o.Reconnect.Lost; lost != nil {
		lost(orEnded(why))
	}
	next, err := k.dial(why)
	if err != nil {
		return nil, err
	}
	if back := d.o.Reconnect.Back; back != nil {
		back(time.Since(k.since))
	}
	l.replaced.Store(true)
	d.reopenStreams(next)
	return next, nil
}

// dial tries to open a link until it succeeds or Reconnect.For is over.
func (k *redialer) dial(why error) (*link, error) {
	d, ctx := k.d, k.ctx
	limit := cmp.Or(d.o.Reconnect.For, defaultReconnect)
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, k.since.Add(limit))
		defer cancel()
	}
	var last error
	renewed := d.o.Reconnect.Renew == nil
	for wire.Sleep(ctx, k.pause()) {
		l, err := d.newLink(ctx)
		if f := wire.AsFault(err); f != nil && f.Kind == wire.Auth && !renewed {
			renewed = true
			if err = d.o.Reconnect.Renew(ctx, &d.o.Transport); err == nil {
				l, err = d.newLink(ctx)
			}
		}
		switch {
		case err == nil:
			return l, nil
		case wire.Ended(ctx) != nil: // the reason is reported below
		case isPermanent(err):
			return nil, err
		default:
			last = err
		}
	}
	if k.ctx.Err() != nil {
		return nil, wire.NewFault(wire.Closed, "the conversation was closed", nil)
	}
	return nil, reconnectFailed(limit, why, last)
}

// reconnectFailed returns the failure when all attempts to reconnect have failed.
func reconnectFailed(limit time.Duration, why, last error) error {
	msg := fmt.Sprintf("%v; no new connection within %v (--reconnect-for)", orEnded(why), limit)
	if last != nil {
		msg += ": " + last.Error()
	} else {
		last = why
	}
	return wire.NewFault(wire.Closed, msg, last)
}

// orEnded returns why a connection ended. After a clean end, it returns an error, too.
func orEnded(why error) error {
	return cmp.Or[error](why, wire.NewFault(wire.Closed, "the peer closed the connection", nil))
}

// transient reports whether to reconnect when a connection has ended with err.
func transient(err error) bool { return err == nil || isLost(err) }

// isPermanent reports whether a further attempt to connect would fail in the same way.
func isPermanent(err error) bool {
	f := wire.AsFault(err)
	if f == nil {
		return false
	}
	switch f.Kind {
	case wire.Closed, wire.Unreachable, wire.Timeout, wire.Protocol, wire.RPCError:
		return false
	}
	return true
}

// reopenStreams opens the streams on l again, in their original order, before any other operation uses l.
func (d *Direct) reopenStreams(l *link) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for s := d.notReopened(l); s != nil; s = d.notReopened(l) {
		d.mu.Unlock()
		s.reopen(l)
		d.mu.Lock()
	}
	d.link, d.codec = l, l.codec
	d.Reconnects.Add(1)
	d.change.Pass()
}
