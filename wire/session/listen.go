package session

import (
	"context"
	"errors"
	"net"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/transport"
	"rpcx/wire/transport/schemes"
)

// A Server is a listener whose connections are answered by hooks and a catalog.
type Server struct {
	endpoint endpoint.Endpoint
	options  Options
	side     *responder
	listener transport.Listener

	mu        sync.Mutex
	peers     map[*peer.Peer]bool
	wg        sync.WaitGroup
	done      bool
	accepted  chan struct{}   // closed when the last connection has been accepted
	clients   atomic.Int64    // the number of connections
	budget    *peer.Budget    // shared by the connections of all clients
	exchanges *peer.Exchanges // set if each connection is a POST
	alone     bool            // there is only one connection (stdio or dial+)
	fault     error
	posted    *lanes // the recording that all POSTs share, or nil
}

// Listen listens at e. When it returns, clients can connect.
func Listen(ctx context.Context, e endpoint.Endpoint, o Options) (*Server, error) {
	if err := canListen(e); err != nil {
		return nil, err
	}
	s := &Server{endpoint: e, options: o, peers: map[*peer.Peer]bool{}, accepted: make(chan struct{}), budget: &peer.Budget{Most: heldBytes, High: collectFrom, OnHigh: setFrequentGC}, exchanges: new(peer.Exchanges), alone: e.Reversed == endpoint.Dial || e.Address.Scheme == "stdio" || e.Address.Scheme == "ipc"}
	if err := checkDuplex(e.Spec(), e); err != nil {
		return nil, err
	}
	var err error
	if s.side, err = newResponder(e.Spec(), e, o, true); err != nil {
		return nil, err
	}
	cfg, err := transportConfig(e, o, e.Spec().Transport.ServerBinary)
	cfg.NoPosts = e.Spec().Transport.Duplex
	cfg.Sessions = cfg.Sessions.WithPosts(s.side.server.Posts)
	if gets := s.side.server.Gets; gets != nil {
		cfg.Gets = gets(o.Info)
	}
	switch {
	case err != nil:
	case e.Reversed == endpoint.Dial:
		cfg.Strict = false // the peer is not a browser
		var conn wire.Conn
		if conn, err = schemes.Dial(ctx, e.Address, cfg); err == nil {
			s.listener = transport.Single(conn) // its only connection is the one to the client that is listening
		}
	default:
		s.listener, err = schemes.Listen(ctx, e.Address, cfg)
	}
	if err != nil {
		_ = s.side.Close()
		return nil, err
	}
	if debug.SetMemoryLimit(-1) > collectBytes { // set now, because the garbage of the first responses already counts
		debug.SetMemoryLimit(collectBytes)
	}
	return s, nil
}

// Endpoint returns the endpoint that a client uses, with dialect and framing, or "" for stdio.
func (s *Server) Endpoint() string {
	at := s.listener.Endpoint()
	if at == "" {
		return ""
	}
	return s.endpoint.Prefixed(at)
}

// Serve serves clients until Close. With stdio, or with a connection that rpcx has dialled, it ends with that
// connection and returns the connection's failure.
func (s *Server) Serve() error {
	s.mu.Lock()
	if s.done {
		s.mu.Unlock()
		return nil
	}
	s.wg.Add(1) // Close also waits for the last Accept
	s.mu.Unlock()
	err := s.acceptAll()
	s.wg.Done()
	if !errors.Is(err, net.ErrClosed) {
		return err
	}
	close(s.accepted)
	s.wg.Wait()
	return s.fault
}

func (s *Server) acceptAll() error {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return err
		}
		p, client, rec := s.newPeer(conn)
		s.wg.Go(func() { s.converse(p, client, rec) })
	}
}

// newPeer begins to serve and record a connection. client is the name of its client.
func (s *Server) newPeer(conn wire.Conn) (p *peer.Peer, client string, rec recording) {
	o := peer.Options{
		Handler: s.side.Accept, Tap: s.options.Tap, Note: s.options.Note,
		MaxInbound: s.options.Inflight, Budget: s.budget, Exchanges: s.exchanges,
	}
	if h, ok := conn.(wire.Holder); ok {
		h.OnHold(s.budget.Hold)
	}
	client = s.clientName(conn)
	if !s.alone {
		o.Name = client
	}
	if s.options.Client != nil && !s.alone {
		o.Tap, o.Note = s.options.Client(client)
	}
	rec = s.record(conn)
	if _, post := conn.(wire.SingleExchange); !post {
		s.options.Transport.Watch.Tell(wire.Fact{Step: "connected", Text: "a client", Who: client})
	}
	o.Record = rec.messages()
	_, session := conn.(wire.Router)
	if s.options.Wrap != nil {
		conn = s.options.Wrap(conn)
	}
	co := servingOptions(s.endpoint, s.options)
	if session {
		co.OneWay = false
	}
	p = peer.New(conn, s.endpoint.Spec().NewCodec(co), o)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[p] = true
	return p, client, rec
}

// servingOptions returns the options for the codec of a server.
func servingOptions(e endpoint.Endpoint, o Options) dialect.CodecOptions {
	co := e.CodecOptions(o.Transport.Options)
	co.Serving, co.Handshake.Info, co.Trace = true, o.Info, o.trace()
	return co
}

func (s *Server) converse(p *peer.Peer, client string, rec recording) {
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	if done { // the server stopped before it could accept the connection
		_ = p.CloseAs(goingAway, stopReason)
	} else {
		s.side.Opened(p)
		<-p.Done()
	}
	err := p.Err()
	_ = rec.close(p, s.options.Transport.Watch, client)
	if p.MostHeld() > muchHeld {
		debug.FreeOSMemory() // return the client's memory to the system
	}
	f := wire.AsFault(err)
	atFault := f != nil && (f.Kind == wire.Protocol || f.Kind == wire.Helper) // caused by the client, or by a program that decodes messages
	if atFault && !s.alone && s.options.Hook.Warn != nil {
		s.options.Hook.Warn("disconnected " + client + ": " + f.Error())
	}
	s.mu.Lock()
	delete(s.peers, p)
	if s.alone {
		s.fault = err
	}
	s.mu.Unlock()
	if s.alone {
		_ = s.listener.Close()
	}
}

// clientName returns the name for a client in warnings: its address or, on a Unix socket, a number.
func (s *Server) clientName(conn wire.Conn) string {
	n := s.clients.Add(1)
	if r, ok := conn.(wire.Remote); ok {
		if at := strings.Trim(r.Remote(), "@"); at != "" {
			return at
		}
	}
	return "client " + strconv.FormatInt(n, 10)
}

// finishTimeout is how long Finish waits for notifications that have been received.
const finishTimeout = 60 * time.Second

// Finish accepts the connections that clients have already made, and reads all their messages. It waits until each
// notification has been handled, so that no notification from a client that has disconnected is lost. It returns
// earlier if ctx ends. After Finish, only Close may be called.
func (s *Server) Finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	if d, ok := s.listener.(transport.Drainer); ok {
		d.Drain()
		wire.Either(s.accepted, ctx.Done())
	}
	var waiting sync.WaitGroup
	s.mu.Lock()
	for p := range s.peers {
		waiting.Go(func() { _ = p.WaitReceived(ctx) })
	}
	s.mu.Unlock()
	waiting.Wait()
}

// goingAway is the WebSocket close code of a server that is stopping. Its clients may connect again later (RFC 6455,
// section 7.4.1).
const (
	goingAway  = 1001
	stopReason = "the server is stopping"
)

// Close ends the listener, closes its connections cleanly, and waits until they have ended.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.mu.Lock()
	s.done = true
	var closing sync.WaitGroup
	for p := range s.peers {
		closing.Go(func() { _ = p.CloseAs(goingAway, stopReason) })
	}
	s.mu.Unlock()
	closing.Wait()
	s.wg.Wait()
	return errors.Join(err, s.side.Close())
}

// Reload notifies clients of new hooks and a new catalog. It returns false if the dialect has no such notification.
func (s *Server) Reload() bool {
	if s.side.server.Reload == nil {
		return false
	}
	s.side.server.Reload()
	return true
}

func (s *Server) Update(entries []hook.Entry, c *catalog.Catalog) error {
	return s.side.update(entries, c)
}

// HookFailure returns the first failure of a hook, or nil.
func (s *Server) HookFailure() error { return s.side.Failure() }
