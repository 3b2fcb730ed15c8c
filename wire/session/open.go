package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/framing"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/redact"
	"rpcx/wire/serve"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpclient"
)

// Open connects to e and runs the handshake. ctx applies only until Open returns.
func Open(ctx context.Context, e endpoint.Endpoint, o Options) (Conversation, error) {
	if (e.Socket != "" || e.Demo != "" || e.Tape != "") && len(o.Transport.Header) > 0 {
		return nil, wire.Usagef("--header and --token-command do not apply to %s", e)
	}
	if e.Socket != "" {
		if o.Reconnect != nil {
			return nil, redialled(e)
		}
		return openSocket(ctx, e, o)
	}
	d, err := OpenDirect(ctx, e, o)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// OpenDirect is like Open, but for an endpoint that no other process owns.
func OpenDirect(ctx context.Context, e endpoint.Endpoint, o Options) (*Direct, error) {
	d, err := newDirect(e, o)
	if err != nil {
		return nil, err
	}
	if err := d.start(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

func newDirect(e endpoint.Endpoint, o Options) (*Direct, error) {
	spec := e.Spec()
	if err := checkDuplex(spec, e); err != nil {
		return nil, err
	}
	if o.Reconnect != nil {
		if err := redialled(e); err != nil {
			return nil, err
		}
	}
	s, err := newResponder(spec, e, o, false)
	if err != nil {
		return nil, err
	}
	d := &Direct{endpoint: e, o: o, responder: s}
	d.newCodec = d.codecForLink
	if d.dial = d.connect; isEmbedded(e) {
		d.dial = d.connectEmbedded()
	}
	if o.Reconnect != nil {
		d.redialer = &redialer{d: d, jitter: fullJitter, done: make(chan struct{})}
		d.redialer.ctx, d.redialer.cancel = context.WithCancel(context.Background())
	}
	if o.Raw || o.Shared != nil {
		d.hub = &rawHub{d: d}
	}
	if o.Raw {
		d.raw = d.hub.join()
	}
	return d, nil
}

// codecForLink returns the codec for a new link.
func (d *Direct) codecForLink() dialect.Codec {
	spec := d.endpoint.Spec()
	o := d.endpoint.CodecOptions(d.o.Transport.Options)
	o.Trace = d.o.trace()
	if spec.Handshake.Introduces {
		o.Handshake = d.introduction()
		o.Handshake.Began = func(session string) { d.session = session }
		o.Handshake.Omitted, o.Handshake.Omit = d.omitted, d.omit
		if d.codec == nil {
			o.Handshake.Own = d.o.Own
		}
		if at := d.endpoint.Address; at.IsHTTP() || strings.HasPrefix(at.Scheme, "ws") {
			o.Handshake.Get = func(ctx context.Context, path string) ([]byte, error) {
				cfg := d.o.Transport
				cfg.Header = cfg.Header.Clone()
				return httpclient.Get(ctx, at, path, cfg)
			}
		}
	}
	if spec.Discovery.IsCached() {
		o.Discovery = discoveryCache(d.endpoint, d.o)
	}
	return spec.NewCodec(o)
}

// checkDuplex returns a usage Fault if e uses HTTP POST but its dialect needs a bidirectional transport.
func checkDuplex(spec dialect.Spec, e endpoint.Endpoint) error {
	if e.IsHTTP() && spec.Transport.Duplex {
		return wire.Usagef("%s needs a bidirectional transport: use ws:// or another transport instead of HTTP POST", spec.Name)
	}
	return nil
}

// introduction returns how rpcx describes itself in a handshake, with the hooks that have exact names and their
// descriptions from the catalog. Hooks that are only function values are left out.
func (d *Direct) introduction() dialect.HandshakeOptions {
	o, c := d.o, &catalog.Catalog{Catalog: 1}
	if o.Offers != nil {
		c.Defs = o.Offers.Defs
	}
	for _, name := range d.responder.table.Names() {
		switch m := o.Offers.Method(name); {
		case o.Functions[name]:
		case m != nil:
			c.Methods = append(c.Methods, *m)
		default:
			c.Methods = append(c.Methods, catalog.Method{Name: name})
		}
	}
	catalog.StripRun(c)
	return dialect.HandshakeOptions{Offers: c, Info: o.Info, Functions: o.Functions, Settings: o.Settings, Logs: o.Logs, Resume: o.Resume, Last: d.session}
}

// connectEmbedded returns a function that starts an embedded server. The n-th server of a tape begins with the n-th connection.
func (d *Direct) connectEmbedded() func(context.Context, recording) (wire.Conn, func() error, error) {
	next := -1
	return func(context.Context, recording) (wire.Conn, func() error, error) {
		next++
		d.o.Transport.Watch.Tell(wire.Fact{Step: "connected", Text: d.endpoint.String() + " runs in this process"})
		return startEmbedded(d.endpoint, d.o, next)
	}
}

// connect dials d.endpoint. end is nil.
func (d *Direct) connect(ctx context.Context, rec recording) (conn wire.Conn, end func() error, err error) {
	cfg, err := transportConfig(d.endpoint, d.o, d.endpoint.Spec().Transport.Binary)
	if err != nil {
		return nil, nil, err
	}
	if d.codec != nil { // known only on later links
		cfg.Warn = nil
	}
	cfg.Exchanged, cfg.Noise, cfg.Whole, cfg.Hurry = rec.exchanged(cfg.Exchanged), rec.conn().Noise(cfg.Noise), true, d.o.Hurry
	conn, err = d.awaiting.dial(ctx, &d.endpoint, d.o, cfg)
	if err == nil {
		if r, ok := conn.(wire.Remote); ok && d.endpoint.Reversed != "" {
			cfg.Watch.Tell(wire.Fact{Step: "connected", Text: strings.TrimSuffix("the peer connected from "+r.Remote(), " from "), At: r.Remote()})
		}
		cfg.Watch.Tell(wire.Fact{Step: "framing", Text: carriedBy(d.endpoint)})
	}
	return conn, nil, err
}

// carriedBy describes the form in which messages travel on a connection to e.
func carriedBy(e endpoint.Endpoint) string {
	switch {
	case e.Address.IsHTTP():
		return "each message is the body of a POST request"
	case e.IsBytes():
		return "messages use the " + e.FramingName() + " framing"
	}
	return "each message is a WebSocket text frame"
}

// transportConfig returns the transport configuration, including settings that depend on the dialect, the local role
// and the framing.
func transportConfig(e endpoint.Endpoint, o Options, binary wire.Binary) (transport.Config, error) {
	spec, cfg := e.Spec(), o.Transport
	cfg.Binary, cfg.Sessions, cfg.Name = binary, spec.Transport.Sessions, spec.Transport.HTTPName
	if len(cfg.Subprotocols) == 0 {
		cfg.Subprotocols, cfg.SubprotocolOptional = spec.Transport.Subprotocols, true
	}
	name := e.FramingName()
	f, ok := framing.ByName(name)
	if !ok {
		return cfg, wire.Usagef("unknown framing %q", name)
	}
	cfg.Framing, cfg.Options.Sentinel, cfg.Options.Around = f, spec.Transport.Sentinel, spec.Transport.Around
	if cfg.Around != nil && !strings.HasPrefix(e.Address.Scheme, "ws") && spec.Transport.Resolve == nil {
		return cfg, wire.Usagef("%s: messages of %s have text around their JSON, and need a WebSocket (ws://, wss://)", e, spec.Name)
	}
	if framing.HasHead(name) && e.IsBytes() && len(cfg.Header) > 0 {
		var err error
		if cfg.Head, err = Head(cfg.Header); err != nil {
			return cfg, err
		}
		cfg.Header = nil
	}
	return cfg, nil
}

// Head returns the header lines that the framing named header writes before each message.
func Head(h http.Header) ([]byte, error) {
	if h.Get("Content-Length") != "" {
		return nil, wire.Usagef("--header cannot set Content-Length, which differs for each message")
	}
	redact.SentHeader(h)
	var b bytes.Buffer
	err := h.Write(&b)
	return b.Bytes(), err
}

// isEmbedded reports whether the peer at e runs in this process.
func isEmbedded(e endpoint.Endpoint) bool { return e.Demo != "" || e.Tape != "" }

// startEmbedded runs the demo or the tape at e on one end of a pair, and returns the other end. end ends that server. A tape
// begins with the connection number first, counted from 0.
func startEmbedded(e endpoint.Endpoint, o Options, first int) (conn wire.Conn, end func() error, err error) {
	if e.Tape != "" {
		return startTape(e, o, first)
	}
	c := serve.Demo(e.Demo)
	entries, err := hook.FromDemo(c)
	if err != nil {
		return nil, nil, fmt.Errorf("the demo %s: %w", e.Demo, err)
	}
	so := Options{Catalog: c, Hooks: entries}
	if e.Spec().Evaluation != nil {
		so.Runtime = "jq"
	}
	server, err := newResponder(e.Spec(), e, so, true)
	if err != nil {
		return nil, nil, err
	}
	here, there := transport.Pair()
	demo := peer.New(there, e.Spec().NewCodec(servingOptions(e, Options{})), peer.Options{Handler: server.Accept})
	return here, func() error { return errors.Join(demo.Close(), server.Close()) }, nil
}
