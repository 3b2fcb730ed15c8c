package session

import (
	"context"
	"encoding/json"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session/relay"
)

// Direct is a Conversation on a connection that this process owns. The same responder answers the peer during the whole
// conversation. With Options.Reconnect, a new link replaces a link that was lost.
type Direct struct {
	endpoint  endpoint.Endpoint
	o         Options
	responder *responder
	hub       *rawHub  // for raw traffic; may be nil
	raw       *rawPipe // what Raw returns; it exists before the first message is read
	newCodec  func() dialect.Codec
	dial      func(ctx context.Context, rec recording) (conn wire.Conn, end func() error, err error)
	session   string    // the session id that the peer has assigned, for the next handshake
	redialer  *redialer // nil without Options.Reconnect
	awaiting  awaiting  // for a peer that connects to rpcx
	once      sync.Once

	links
}

// start opens the first link. If it fails, it releases all resources of the conversation.
func (d *Direct) start(ctx context.Context) error {
	l, err := d.newLink(ctx)
	if err != nil {
		d.awaiting.end()
		_ = d.responder.Close()
		return err
	}
	d.link, d.codec = l, l.codec
	if d.redialer != nil {
		d.redialer.start(l)
	}
	return nil
}

// live returns the current link. It waits while there is no link, or while the current link is still old, which the
// caller has found to be lost.
func (d *Direct) live(ctx context.Context, old *link) (*link, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.redialer == nil {
		return d.link, nil
	}
	for d.link == nil || d.link == old {
		if d.over {
			return nil, d.ended()
		}
		if err := d.change.Await(ctx, &d.mu); err != nil {
			return nil, err
		}
	}
	return d.link, nil
}

func (d *Direct) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	switch {
	case op.Since != nil:
		return nil, wire.Usagef("only a session keeps earlier events: rpcx connect ENDPOINT --session NAME opens one")
	case op.Kind >= dialect.JobRun:
		return onLink(ctx, d, func(l *link) (dialect.Stream, error) { return l.backend().Open(ctx, op) })
	case d.redialer == nil && d.o.First != nil:
		if st := d.takePreopened(d.link, op); st != nil {
			return st, nil
		}
		return d.link.p.Open(ctx, op)
	case d.redialer == nil:
		return d.link.p.Open(ctx, op)
	case op.Kind == dialect.Subscribe || op.Kind == dialect.Watch:
		return d.openResubscribed(ctx, op)
	}
	return d.openOnce(ctx, op)
}

// Pipeline calls peer.Peer.Pipeline. It returns nil if the conversation cannot pipeline calls, because the connection may
// be replaced (Options.Reconnect) or the caller needs messages other than responses.
func (d *Direct) Pipeline(most int, ready func()) dialect.CallPipeline {
	if d.redialer != nil || d.o.First != nil || d.hub != nil {
		return nil
	}
	return d.link.p.Pipeline(most, ready)
}

// Preview calls peer.Peer.Preview.
func (d *Direct) Preview(ctx context.Context, op dialect.Op) (wire.Message, error) {
	return onLink(ctx, d, func(l *link) (wire.Message, error) { return l.p.Preview(op) })
}

// onLink calls do with the current link. It waits while there is none.
func onLink[T any](ctx context.Context, d *Direct, do func(l *link) (T, error)) (result T, err error) {
	l, err := d.live(ctx, nil)
	if err != nil {
		return result, err
	}
	return do(l)
}

// openOnce opens op on the current link. If there is no link, openOnce waits for one. If the link is lost before op was
// sent, openOnce tries the next link.
func (d *Direct) openOnce(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	var old *link
	for {
		l, err := d.live(ctx, old)
		if err != nil {
			return nil, err
		}
		st, err := l.p.Open(ctx, op)
		switch {
		case d.redialer == nil:
			return st, err
		case st != nil:
			return linkStream{st, l}, err
		case !isLost(err):
			return nil, err
		}
		old = l
	}
}

// isLost reports whether err means that a connection ended.
func isLost(err error) bool {
	f := wire.AsFault(err)
	return f != nil && f.Kind == wire.Closed
}

func (d *Direct) Notify(ctx context.Context, op dialect.Op) error {
	l, err := d.live(ctx, nil)
	if err != nil {
		return err
	}
	return l.p.Notify(ctx, op)
}

func (d *Direct) Describe(ctx context.Context) (*catalog.Catalog, error) {
	return onLink(ctx, d, func(l *link) (*catalog.Catalog, error) { return l.backend().Describe(ctx) })
}

func (d *Direct) Typing(ctx context.Context, method string) (*catalog.Catalog, error) {
	return onLink(ctx, d, func(l *link) (*catalog.Catalog, error) { return l.backend().Typing(ctx, method) })
}

// RunningJobs returns the names of the jobs that will end with the connection.
func (d *Direct) RunningJobs(ctx context.Context) []string {
	l, err := d.live(ctx, nil)
	if err != nil {
		return nil
	}
	if jobs := l.backend().Codec.Abilities().RunningJobs; jobs != nil {
		return jobs()
	}
	return nil
}

// CommonParams adds the params that the dialect adds to every request.
func (d *Direct) CommonParams(method string, params json.RawMessage) (json.RawMessage, error) {
	d.mu.Lock()
	common := d.codec.Abilities().CommonParams
	d.mu.Unlock()
	if common == nil {
		return params, nil
	}
	return common(method, params)
}

// Event decodes m with the codec of the current link. A message of an earlier link already contains its event (see
// withEvent).
func (d *Direct) Event(m *wire.Message, ev *wire.Event) error {
	if d.redialer == nil && m.Event == nil {
		return d.codec.Event(m, ev)
	}
	d.mu.Lock()
	codec := d.codec
	d.mu.Unlock()
	return relay.PeerBackend{Codec: codec}.Event(m, ev)
}

func (d *Direct) Dialect() string { return d.responder.spec.Name }

func (d *Direct) Raw() (relay.RawPipe, error) {
	if d.raw == nil {
		return nil, wire.Usagef("this conversation was not opened for raw traffic")
	}
	done := d.Done()
	go func() {
		<-done
		d.raw.Stop()
	}()
	return d.raw, nil
}

func (d *Direct) HookFailure() error { return d.responder.Failure() }

func (d *Direct) Settle(ctx context.Context) {
	if l := d.current(); l != nil {
		_ = l.p.WaitNotified(ctx)
	}
}

// Done is closed when the conversation has ended: after Close, or when a lost connection cannot be replaced.
func (d *Direct) Done() <-chan struct{} {
	if d.redialer == nil {
		return d.link.p.Done()
	}
	return d.redialer.done
}

// Pending returns the number of pending local calls and the number of pending requests from the peer. ok is false if
// there is no connection.
func (d *Direct) Pending() (calls, requests int, ok bool) {
	l := d.current()
	if l == nil {
		return 0, 0, false
	}
	calls, requests = l.p.Pending()
	return calls, requests, true
}

// JoinRaw starts the raw traffic of another process in a shared conversation.
func (d *Direct) JoinRaw() relay.SharedPipe { return d.hub.join() }

// EndRaw ends the raw traffic of all processes. why is the reason that they receive.
func (d *Direct) EndRaw(why error) { d.hub.end(why) }

func (d *Direct) Err() error {
	if d.redialer == nil {
		return d.link.p.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *Direct) Close() error {
	var err error
	d.once.Do(func() {
		if d.hub != nil {
			d.hub.end(nil)
		}
		d.mu.Lock()
		d.over = true // set before redialling is cancelled, because the cancellation must not count as a failure
		l := d.link
		d.change.Pass()
		d.mu.Unlock()
		if d.redialer != nil {
			d.redialer.cancel()
		}
		if l != nil {
			err = l.close()
		}
		if d.redialer != nil {
			<-d.redialer.done
		}
		d.awaiting.end()
		_ = d.responder.Close()
	})
	return err
}
