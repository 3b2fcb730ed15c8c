package session

import (
	"context"
	"errors"
	"net"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/peer"
	"rpcx/wire/transport"
)

// A Server is a bound listener, whose connections are answered by hooks and a
// catalog.
type Server struct {
	endpoint endpoint.Endpoint
	options  Options
	side     *responder
	listener transport.Listener

	mu    sync.Mutex
	peers map[*peer.Peer]bool
	wg    sync.WaitGroup
	done  bool
	alone bool // one connection is all there will ever be (stdio)
	fault error
}

// Listen binds e and returns when a client could connect.
func Listen(ctx context.Context, e endpoint.Endpoint, o Options) (*Server, error) {
	if e.Demo != "" || e.Socket != "" {
		return nil, wire.Usagef("%s cannot be listened on", e)
	}
	s := &Server{endpoint: e, options: o, peers: map[*peer.Peer]bool{}, alone: e.Address.Scheme == "stdio" || e.Address.Scheme == "ipc"}
	if err := checkDuplex(e.Spec(), e); err != nil {
		return nil, err
	}
	var err error
	if s.side, err = newResponder(e.Spec(), e, o, true); err != nil {
		return nil, err
	}
	cfg, err := transportConfig(e, o, e.Spec().ServerBinary)
	cfg.NoPosts = e.Spec().Duplex
	if err == nil {
		s.listener, err = transport.Listen(ctx, e.Address, cfg)
	}
	if err != nil {
		_ = s.side.Close()
		return nil, err
	}
	return s, nil
}

// endpoint.Endpoint is where it listens, as a client writes it, with the dialect and the
// framing; "" for stdio.
func (s *Server) Endpoint() string {
	at := s.listener.Endpoint()
	if at == "" {
		return ""
	}
	if s.endpoint.Framing != "" {
		at = s.endpoint.Framing + "+" + at
	}
	if s.endpoint.Dialect != all.Default() {
		at = s.endpoint.Dialect + "+" + at
	}
	return at
}

// Serve answers until Close; on stdio until its one connection ends, whose
// failure it then returns.
func (s *Server) Serve() error {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			s.wg.Wait()
			return s.fault
		}
		if err != nil {
			return err
		}
		s.wg.Go(func() { s.converse(conn) })
	}
}

// converse serves one connection to its end.
func (s *Server) converse(conn wire.Conn) {
	o := peer.Options{Handler: s.side.Accept, Tap: s.options.Tap, Note: s.options.Note, Drain: s.options.Drain}
	p := peer.New(conn, s.endpoint.Spec().NewCodec(s.endpoint.CodecOptions(s.options.Transport.Options)), o)
	s.mu.Lock()
	s.peers[p] = true
	done := s.done
	s.mu.Unlock()
	if !done {
		<-p.Done()
	}
	err := p.Err()
	_ = p.Close()
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Protocol && !s.alone && s.options.Hook.Warn != nil {
		s.options.Hook.Warn("hung up on a client: " + f.Error())
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

// goingAway is WebSocket's code for a server that stops: its clients may come
// back when there is one again (RFC 6455, section 7.4.1).
const goingAway = 1001

// Close ends the listener and its connections, each in good order, and waits.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.mu.Lock()
	s.done = true
	var closing sync.WaitGroup
	for p := range s.peers {
		closing.Go(func() { _ = p.CloseAs(goingAway, "the server stops") })
	}
	s.mu.Unlock()
	closing.Wait()
	s.wg.Wait()
	return errors.Join(err, s.side.Close())
}

// Reload tells the dialect's server that what it is made of was loaded again. It
// says whether that means anything there.
func (s *Server) Reload() bool {
	r, ok := s.side.server.(dialect.Reloader)
	if ok {
		r.Reload()
	}
	return ok
}

// HookFailure is the first failure of a hook, nil when there was none.
func (s *Server) HookFailure() error { return s.side.Failure() }
