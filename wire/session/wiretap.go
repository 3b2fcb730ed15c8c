package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/tape/wiretap"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpclient"
	"rpcx/wire/transport/schemes"
)

// A Wiretap is a listener that forwards its connections to an endpoint, and records them.
type Wiretap struct {
	listen, to endpoint.Endpoint
	options    Options
	listener   transport.Listener
	framing    wire.Framing // the framing if both sides are byte streams; nil if whole messages are forwarded
	dialling   transport.Config

	awaiting awaiting        // for a peer that connects to rpcx
	ends     context.Context // ended by Close
	end      context.CancelFunc

	mu       sync.Mutex
	posts    *wiretap.Posts    // forwards POSTs to a peer that does not use HTTP
	posted   *lanes            // the recording that posts shares
	relayTo  *httpclient.Relay // forwards HTTP requests to a peer that uses HTTP
	sessions map[string]*lanes // the recordings of those requests, by session
	up       wire.Conn         // the connection to the peer for posts
	endUp    func() error      // ends up if it is an embedded server; may be nil
	fault    error
	wg       sync.WaitGroup // Serve, the forwarded HTTP requests, and the connections that Close closes
}

// ListenTap listens at listen and forwards connections to the endpoint to. of.Transport configures the connections to
// the peer, and listening configures the listener. If of.Record is nil, nothing is recorded.
func ListenTap(ctx context.Context, listen, to endpoint.Endpoint, of Options, listening transport.Config) (*Wiretap, error) {
	if err := canListen(listen); err != nil {
		return nil, err
	}
	if listen.Reversed != "" {
		return nil, wire.Usagef("%s: clients connect to rpcx to be recorded; remove dial+ or accept+", listen)
	}
	if to.Socket != "" {
		return nil, wire.Usagef("%s is already connected: record it with --record where it is opened", to)
	}
	t := &Wiretap{listen: listen, to: to, options: of}
	t.ends, t.end = context.WithCancel(context.Background())
	near := of
	near.Transport = listening
	bind, err := transportConfig(listen, near, listen.Spec().Transport.ServerBinary)
	if err != nil {
		return nil, err
	}
	if t.dialling, err = transportConfig(to, of, to.Spec().Transport.Binary); err != nil {
		return nil, err
	}
	bind.Binary, t.dialling.Binary = wire.BinaryAccept, wire.BinaryAccept
	if listen.IsBytes() && to.IsBytes() && listen.FramingName() == to.FramingName() && t.dialling.Head == nil && of.Record != nil {
		t.framing = bind.Framing
		bind.Framing, t.dialling.Framing = wiretap.Bytes, wiretap.Bytes
	}
	if t.alike() {
		bind.Relay = t.relay
	}
	if t.listener, err = schemes.Listen(ctx, listen.Address, bind); err != nil {
		return nil, err
	}
	return t, nil
}

// Endpoint returns the address that a client uses, or "" for stdio.
func (t *Wiretap) Endpoint() string {
	return (&Server{endpoint: t.listen, listener: t.listener}).Endpoint()
}

// alike reports whether requests can be forwarded unchanged, because both sides use HTTP or both use WebSocket.
func (t *Wiretap) alike() bool {
	from, to := t.listen.Address, t.to.Address
	return t.to.Reversed == "" && (from.IsHTTP() && to.IsHTTP() || from.WebSocket() && (to.WebSocket() || t.to.Resolves()))
}

// alone reports whether there can be only one connection.
func (t *Wiretap) alone() bool {
	return t.listen.Address.Scheme == "stdio" || t.listen.Address.Scheme == "ipc"
}

// Serve forwards connections until Close. With stdio, it returns when the only connection ends, with the reason why the
// peer ended it.
func (t *Wiretap) Serve(ctx context.Context) error {
	if !t.begins() {
		return nil
	}
	defer t.wg.Done()
	var connections sync.WaitGroup
	for {
		conn, err := t.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			connections.Wait()
			return t.fault
		}
		if err != nil {
			t.wg.Go(connections.Wait)
			return err
		}
		forward := t.pass
		if _, post := conn.(wire.SingleExchange); post {
			forward = t.post
		}
		connections.Go(func() { forward(ctx, conn) })
	}
}

func (t *Wiretap) pass(ctx context.Context, client wire.Conn) {
	defer wire.Guard()
	defer t.closeAtEnd(client)()
	rec := t.options.record(tape.Open{Endpoint: t.to.String()}, false)
	server, endServer, err := t.dial(ctx, rec)
	if err != nil {
		rec.failed(err)
		t.failed(err) // done first, because closing the client may end the program
		_ = wire.CloseWith(client, wiretap.CodeUnreached, "the peer cannot be reached")
		return
	}
	defer t.closeAtEnd(server)()
	if !strings.HasPrefix(t.to.Address.Scheme, "ws") { // with WebSocket, the upgrade already checks this
		rec = rec.from(client)
	}
	conn := rec.conn()
	conn.Show = t.options.Tap
	err = wiretap.Pass(client, server, t.framing, conn, func(d wire.Direction, b []byte) { t.recognize(conn, d, b) })
	if endServer != nil {
		_ = endServer()
	}
	if f := wire.AsFault(err); t.alone() || f != nil && t.to.IsHTTP() { // a client that uses POST receives the error with its first message
		t.failed(err)
	}
}

// recognize warns if the first bytes from a side belong to another framing or transport than the one that is recorded.
func (t *Wiretap) recognize(rec *recorder.Conn, d wire.Direction, first []byte) {
	if t.to.LooksExpected(first) {
		return
	}
	c, _ := t.to.Recognize(first)
	if c == nil {
		return
	}
	if spec, err := all.Lookup(c.Dialect); err == nil && spec.Transport.Framing == t.to.FramingName() {
		return // recording works for every dialect that uses the framing
	}
	side := [...]string{wire.Send: "the client", wire.Recv: "the server"}[d]
	why := fmt.Sprintf("%s uses %s, so messages cannot be recognised in %s", side, c.Prefix(), t.to)
	rec.Note(why)
	if t.options.Hook.Warn != nil {
		t.options.Hook.Warn(why + "; record with " + c.Prefix())
	}
}

// dial connects to the peer. Close ends an attempt to connect. end is nil, or ends an embedded server.
func (t *Wiretap) dial(ctx context.Context, rec recording) (conn wire.Conn, end func() error, err error) {
	if isEmbedded(t.to) {
		return startEmbedded(t.to, t.options, 0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ends, cancel)()
	cfg := t.dialling
	cfg.Exchanged = rec.exchanged(nil)
	conn, err = t.awaiting.dial(ctx, &t.to, t.options, cfg)
	return conn, nil, err
}

// failed reports a connection that could not be forwarded. The error of a failed attempt to connect already names the
// peer.
func (t *Wiretap) failed(err error) {
	if t.alone() {
		t.mu.Lock()
		t.fault = err
		t.mu.Unlock()
		_ = t.listener.Close()
	} else if t.options.Hook.Warn != nil && t.ends.Err() == nil {
		t.options.Hook.Warn(err.Error())
	}
}

func (t *Wiretap) post(ctx context.Context, client wire.Conn) {
	defer wire.Guard()
	t.mu.Lock()
	if t.ends.Err() != nil { // Close would not end a new connection to the peer
		t.mu.Unlock()
		_ = client.Close()
		return
	}
	if t.posts == nil {
		shape := t.to.Spec().Shape()
		posted := newLanes(shape, func() *recorder.Conn {
			c := t.recorded()
			c.Show = t.options.Tap
			return c
		})
		rec := recording{to: posted.first()}
		server, endServer, err := t.dial(ctx, rec)
		if err != nil {
			rec.failed(err)
			t.mu.Unlock()
			t.failed(err)
			_ = client.Close()
			return
		}
		t.up, t.endUp, t.posted = server, endServer, posted
		t.posts = wiretap.NewPosts(server, shape, posted.first(), t.options.Hook.Warn)
	}
	posts, posted := t.posts, t.posted
	t.mu.Unlock()
	var record wire.Tap
	if t.options.Record != nil {
		rec := posted.post(client, wire.Recv)
		defer rec.end()
		record = rec.message
	}
	if err := posts.Pass(ctx, client, record); err != nil && ctx.Err() == nil {
		t.failed(fmt.Errorf("%s: %w", t.to, err))
	}
}

// recorded begins to record a connection to the peer.
func (t *Wiretap) recorded() *recorder.Conn {
	return t.options.record(tape.Open{Endpoint: t.to.String()}, false).conn()
}

// closeAtEnd arranges that Close closes c, and waits for that, unless release is called first.
func (t *Wiretap) closeAtEnd(c wire.Conn) (release func()) {
	t.wg.Add(1)
	stop := context.AfterFunc(t.ends, func() {
		defer t.wg.Done()
		_ = c.Close()
	})
	return func() {
		if stop() {
			t.wg.Done()
		}
	}
}

// Close ends the listener and all connections, and waits until they have ended.
func (t *Wiretap) Close() error {
	err := t.listener.Close()
	t.end() // done first, because the goroutine that dials for a POST holds the lock
	t.mu.Lock()
	relayTo, up, posts, endUp := t.relayTo, t.up, t.posts, t.endUp
	t.mu.Unlock()
	if up != nil {
		_ = up.Close()
	}
	t.wg.Wait()
	if posts != nil {
		posts.Wait() // the caller closes the tape when Close returns
	}
	if endUp != nil {
		_ = endUp()
	}
	if relayTo != nil {
		relayTo.Close()
	}
	t.awaiting.end()
	return err
}
