package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/peer"
	"rpcx/wire/session/relay"
	"rpcx/wire/tape"
)

// A link is one connection of a conversation, together with the state that does not outlive it.
type link struct {
	p     *peer.Peer
	codec dialect.Codec
	ready chan struct{} // closed when p is set
	born  time.Time
	// Watches are opened before the reader starts, so that they receive the first messages.
	watches   map[*resubscription]dialect.Stream
	preopened dialect.Stream // the stream of Options.First, until the caller opens that operation
	received  atomic.Bool    // whether a message has arrived since the handshake; recorded only if the conversation needs it
	replaced  atomic.Bool
	open      atomic.Bool  // the handshake has ended
	close     func() error // closes the connection cleanly; it can be called more than once
}

// newLink connects and runs the handshake. If the handshake failed because a call was omitted, or because the peer
// closed the connection after an optional call, newLink tries once more.
func (d *Direct) newLink(ctx context.Context) (*link, error) {
	before := d.omissions()
	l, err := d.tryLink(ctx)
	switch {
	case err == nil, wire.Ended(ctx) != nil:
		return l, err
	case errors.Is(err, dialect.ErrAnew):
	case len(before) > 0 && isRefusal(err):
		for _, o := range before {
			omitted.Delete(o)
		}
	default:
		return nil, err
	}
	return d.tryLink(ctx)
}

// isRefusal reports whether err means that the peer rejected a call of the handshake.
func isRefusal(err error) bool {
	f := wire.AsFault(err)
	return f != nil && (f.Kind == wire.Protocol && f.Method != "" || f.Kind == wire.RPCError || f.Kind == wire.Expectation || f.HTTP != nil)
}

// unrecorded returns err, the failure of a handshake that ended with the error end. If the peer is a tape that rejected a call because
// it is not recorded, end is an Expectation Fault, and the returned Fault has that kind.
func unrecorded(err, end error) error {
	f, e := wire.AsFault(err), wire.AsFault(end)
	if f == nil || f.RPC == nil || e == nil || e.Kind != wire.Expectation {
		return err
	}
	expectation := *f
	expectation.Kind = e.Kind
	return &expectation
}

func (d *Direct) tryLink(ctx context.Context) (*link, error) {
	rec := d.o.record(tape.Open{Endpoint: d.endpoint.String(), Reconnect: d.codec != nil}, false)
	conn, endServer, err := d.dial(ctx, rec)
	if err != nil {
		rec.failed(err)
		return nil, err
	}
	if d.o.Wrap != nil {
		conn = d.o.Wrap(conn)
	}
	l := &link{codec: d.newCodec(), ready: make(chan struct{}), born: time.Now()}
	po := peer.Options{Client: true, Tap: d.o.Tap, Record: d.o.Messages, Note: d.o.Note, Hurry: d.o.Hurry, Lossy: d.o.Shared != nil}
	po.Handler = func(c dialect.Caller) dialect.Handler {
		d.preopen(ctx, l, c)
		return d.responder.Accept(c)
	}
	if d.hub != nil {
		po.Incoming = func(m wire.Message) bool { return d.hub.incoming(l, m) }
	}
	if d.o.Resend != nil {
		po.Resend = func(ctx context.Context, attempt func() error) error {
			if !l.open.Load() { // the caller of Open repeats the whole handshake
				return attempt()
			}
			return d.o.Resend(ctx, attempt)
		}
	}
	if d.redialer != nil {
		po.Record = inTurn(l.noteReceived, po.Record)
	}
	po.Record = inTurn(rec.messages(), po.Record)
	l.p = peer.New(conn, l.codec, po)
	l.close = sync.OnceValue(func() error {
		err := rec.close(l.p, d.o.Transport.Watch, "")
		if endServer != nil {
			err = errors.Join(err, endServer())
		}
		return err
	})
	close(l.ready)
	handshake := wire.Fact{Step: "greeting", Text: "the " + d.Dialect() + " dialect has no handshake"}
	began := time.Now()
	if err := l.handshake(ctx); err != nil {
		return nil, unrecorded(err, l.close())
	}
	l.open.Store(true)
	d.responder.Opened(l.p)
	if l.codec.Abilities().Handshake != nil {
		l.received.Store(false)
		handshake.Text, handshake.Took = "the "+d.Dialect()+" dialect completed its handshake", time.Since(began)
	}
	d.o.Transport.Watch.Tell(handshake)
	return l, nil
}

// noteReceived implements wire.Record. It records that the peer has sent a message.
func (l *link) noteReceived(dir wire.Direction, _ []byte, _ ...[]byte) {
	if dir == wire.Recv {
		l.received.Store(true)
	}
}

func (l *link) handshake(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	err := l.p.Handshake(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return wire.NewFault(wire.Timeout, fmt.Sprintf("no handshake within %v", handshakeTimeout), err)
	}
	return err
}

// withEvent decodes the event of m if l has been replaced, because the codec of the next link could not decode m.
func (l *link) withEvent(m wire.Message) wire.Message {
	if m.Event != nil || !l.replaced.Load() {
		return m
	}
	if ev, err := dialect.EventOf(l.codec, m); err == nil {
		m.Event = &ev
	}
	return m
}

// A linkStream is the stream of a call that ends with its link. Messages that have been received can still be read
// after the link was replaced.
type linkStream struct {
	dialect.Stream
	l *link
}

func (s linkStream) Next(ctx context.Context) (wire.Message, error) {
	m, err := s.Stream.Next(ctx)
	if err == nil {
		m = s.l.withEvent(m)
	}
	return m, err
}

func (s linkStream) Severed() bool { return dialect.Severed(s.Stream) }

func (s linkStream) Waiting() bool { return dialect.Waiting(s.Stream) }

func (l *link) backend() relay.PeerBackend { return relay.PeerBackend{Caller: l.p, Codec: l.codec} }

// discoveryCache returns the cache for e's catalog. It outlives connections. It reports each use.
func discoveryCache(e endpoint.Endpoint, o Options) dialect.DiscoveryCache {
	k := cache.Discovery(e, o.Transport, o.Cache)
	k.Warn = o.Hook.Warn
	if o.Note != nil {
		k.Note = func(text string) { o.Note(peer.Note{Kind: peer.NoteDetail, Text: text}) }
	}
	return k
}

// omitted contains the optional handshake calls that a server does not support, by endpoint and method. The entries
// live as long as this process.
var omitted sync.Map

type omission struct{ endpoint, method string }

func (d *Direct) omitted(method string) bool {
	_, ok := omitted.Load(omission{d.endpoint.String(), method})
	return ok
}

func (d *Direct) omit(method string) { omitted.Store(omission{d.endpoint.String(), method}, true) }

func (d *Direct) omissions() (all []omission) {
	omitted.Range(func(key, _ any) bool {
		if o := key.(omission); o.endpoint == d.endpoint.String() {
			all = append(all, o)
		}
		return true
	})
	return all
}
