package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/framing"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/serve"
	"rpcx/wire/transport"
)

// Open connects to e and greets. The context bounds that alone.
func Open(ctx context.Context, e Endpoint, o Options) (Conversation, error) {
	if e.Socket != "" {
		return dialSocket(ctx, e, o)
	}
	d, err := newDirect(e, o)
	if err != nil {
		return nil, err
	}
	conn, err := d.connect(ctx, e, o)
	if err != nil {
		d.release()
		return nil, err
	}
	d.p = peer.New(conn, d.codec, d.peerOptions(o))
	if err := d.greet(ctx, o.Greeting); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// direct is a Conversation over a connection of our own.
type direct struct {
	p     *peer.Peer
	codec dialect.Codec
	side  *side
	hub   *hub       // of raw traffic; nil: nobody wants it
	raw   *rawPipe   // Raw returns it: it is there from the first message on
	demo  *peer.Peer // the embedded server's end, for demo:
	ends  []func() error
	once  sync.Once
}

func newDirect(e Endpoint, o Options) (*direct, error) {
	spec := SpecOf(e)
	if e.Address.Scheme == "http" || e.Address.Scheme == "https" || e.Address.Scheme == "http+unix" {
		if spec.Duplex {
			return nil, usage("%s needs both directions, which HTTP POST has not: use ws:// or another transport", spec.Name)
		}
	}
	s, err := newSide(spec, e, o, false)
	if err != nil {
		return nil, err
	}
	d := &direct{codec: spec.NewCodec(e, o.Transport.Options), side: s}
	if o.Raw {
		d.hub = &hub{answers: s.answers}
		d.raw = d.hub.join(func() *peer.Peer { return d.p })
	}
	return d, nil
}

// connect dials, or starts the embedded server.
func (d *direct) connect(ctx context.Context, e Endpoint, o Options) (wire.Conn, error) {
	if e.Demo != "" {
		return d.startDemo(e)
	}
	cfg, err := transportConfig(e, o)
	if err != nil {
		return nil, err
	}
	return transport.Dial(ctx, e.Address, cfg)
}

// transportConfig adds what the dialect and the framing decide.
func transportConfig(e Endpoint, o Options) (transport.Config, error) {
	spec, cfg := SpecOf(e), o.Transport
	cfg.Binary = spec.Binary
	if cfg.Subprotocols == nil {
		cfg.Subprotocols = spec.Subprotocols
	}
	name := e.Framing
	if name == "" {
		name = "line"
	}
	f, ok := framing.ByName(name)
	if !ok {
		return cfg, usage("unknown framing %q", name)
	}
	cfg.Framing = f
	return cfg, nil
}

// startDemo runs the embedded server at the other end of a pair.
func (d *direct) startDemo(e Endpoint) (wire.Conn, error) {
	c, _ := serve.Demo(e.Demo)
	entries, err := hook.FromCatalog(c)
	if err != nil {
		return nil, fmt.Errorf("the demo %s: %w", e.Demo, err)
	}
	server, err := newSide(SpecOf(e), e, Options{Catalog: c, Hooks: entries}, true)
	if err != nil {
		return nil, err
	}
	here, there := transport.Pair()
	d.demo = peer.New(there, SpecOf(e).NewCodec(e, wire.Options{}), peer.Options{Handler: server.accept})
	d.ends = append(d.ends, d.demo.Close, server.Close)
	return here, nil
}

func (d *direct) peerOptions(o Options) peer.Options {
	po := peer.Options{Handler: d.side.accept, Tap: o.Tap, Note: o.Note, Drain: o.Drain}
	if d.hub != nil {
		po.Incoming = d.hub.incoming
	}
	return po
}

func (d *direct) greet(ctx context.Context, limit time.Duration) error {
	if limit <= 0 {
		limit = defaultGreeting
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := d.p.Greet(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return wire.NewFault(wire.Timeout, fmt.Sprintf("no greeting within %v", limit), err)
	}
	return err
}

func (d *direct) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	return d.p.Open(ctx, op)
}

func (d *direct) Notify(ctx context.Context, op dialect.Op) error { return d.p.Notify(ctx, op) }

func (d *direct) line() line { return line{d.p, d.codec} }

func (d *direct) Describe(ctx context.Context) (*catalog.Catalog, error) {
	return d.line().Describe(ctx)
}

func (d *direct) Typing(ctx context.Context, method string) (*catalog.Catalog, error) {
	return d.line().Typing(ctx, method)
}

func (d *direct) Event(m wire.Message) (wire.Event, error) { return d.line().Event(m) }

func (d *direct) Dialect() string { return d.side.spec.Name }

func (d *direct) Raw() (RawPipe, error) {
	if d.raw == nil {
		return nil, usage("this conversation was not opened for raw traffic")
	}
	d.raw.watch()
	return d.raw, nil
}

func (d *direct) HookFailure() error { return d.side.failure() }

func (d *direct) Settle(ctx context.Context) { _ = d.p.Told(ctx) }

func (d *direct) Err() error { return d.p.Err() }

func (d *direct) Close() error {
	var err error
	d.once.Do(func() {
		if d.raw != nil {
			d.raw.Stop()
		}
		if d.p != nil {
			err = d.p.Close()
		}
		d.release()
	})
	return err
}

// release ends all but the peer.
func (d *direct) release() {
	for _, end := range d.ends {
		_ = end()
	}
	_ = d.side.Close()
}
