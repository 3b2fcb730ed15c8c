// Package relay offers a conversation to other processes over a Unix socket, and lets rpcx use such a conversation.
// Each session has a socket, and the RPCX_ENDPOINT of a hook refers to one.
package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/endpoint"
	"rpcx/wire/framing"
	"rpcx/wire/peer"
	"rpcx/wire/session/rundir"
)

// A Socket offers one connection to other rpcx processes. Its protocol is JSON-RPC 2.0 with one message per line. It
// has the methods of a Conversation: hello, open (a stream, which cancel ends), notify, describe and typing. A session
// adds more methods.
type Socket struct {
	*Functions
	ServerOptions

	mu           sync.Mutex
	peers        map[*peer.Peer]*Process
	lastDetached time.Time // when the last attached process disconnected; at first, when the socket was created
	closed       bool
	cancelled    bool           // CancelStreams was called
	working      int            // the number of working hooks
	streams      sync.WaitGroup // the streams that are being forwarded; none is added once closed or cancelled is set
	wg           sync.WaitGroup
}

// ServerOptions configures a Socket.
type ServerOptions struct {
	Upstream  Backend
	Owner     Owner
	Dialect   string            // the dialect of Upstream; "" if Methods contains a hello that returns it
	Shown     string            // the redacted endpoint of Upstream
	Methods   map[string]Method // additional methods; they override the methods of the same name that every socket has
	Path      string
	Listener  net.Listener
	Temporary bool // whether Close removes Path
}

// An Owner receives the events of a socket. It is a session, or the responder on a connection whose hooks use the
// socket.
type Owner interface {
	// SuspendHook frees the slot of a hook while the hook waits for a response over the socket.
	SuspendHook(hook string) (resume func())
	// Answers returns the id of the request that a hook is answering, or nil.
	Answers(hook string) wire.ID
	// ClientGone reports that a process has disconnected.
	ClientGone(client *Process)
	// EndReason returns the error for streams that end because the owner has ended. Before that, it returns nil.
	EndReason() error
	// StreamFailed reports that a stream failed although the owner has not ended.
	StreamFailed(err error)
}

// ListenForHooks creates a private socket for the hooks of a connection. far is that connection.
func ListenForHooks(far Backend, funcs *Functions, name string, e endpoint.Endpoint, own Owner) (*Socket, error) {
	dir, err := rundir.Make()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, rundir.PrefixHooks+wire.RandomHex(8))
	var l net.Listener
	err = rundir.Locked(dir, func() (err error) {
		l, err = rundir.Bind(path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot create the socket for hooks: %w", err)
	}
	s := New(funcs, ServerOptions{Upstream: far, Owner: own, Dialect: name, Shown: e.String(), Path: path, Listener: l, Temporary: true})
	s.Serve()
	return s, nil
}

// New returns a Socket. Processes can connect only after Serve.
func New(funcs *Functions, o ServerOptions) *Socket {
	return &Socket{Functions: funcs, ServerOptions: o, peers: map[*peer.Peer]*Process{}, lastDetached: time.Now()}
}

// Serve starts to accept processes.
func (s *Socket) Serve() { s.wg.Go(s.serve) }

// StopAccepting closes the listener, so that no more processes can connect.
func (s *Socket) StopAccepting() { _ = s.Listener.Close() }

func (s *Socket) Endpoint() string { return "conversation:" + s.Path }

func (s *Socket) serve() {
	for {
		nc, err := s.Listener.Accept()
		switch {
		case err == nil:
			s.wg.Go(func() { s.converse(nc) })
		case errors.Is(err, net.ErrClosed):
			return
		default: // a temporary error, such as no free descriptor
			time.Sleep(acceptPause)
		}
	}
}

// acceptPause is the pause after a failed Accept.
const acceptPause = 20 * time.Millisecond

func (s *Socket) converse(nc net.Conn) {
	defer wire.Guard()
	h := &Process{socket: s, open: map[string]openStream{}, worked: make(chan struct{}, 1)}
	p := socketPeer(nc, peer.Options{
		Handler: func(c dialect.Caller) dialect.Handler {
			h.client = c
			return dialect.Handler{Handle: h.Handle, Close: h.Close}
		},
		Drain: time.Millisecond, MaxInbound: socketInbound,
	})
	s.mu.Lock()
	s.peers[p] = h
	closed := s.closed
	if s.working > 0 {
		h.wakeNotifier()
	}
	s.mu.Unlock()
	s.wg.Go(func() { s.notifyWorking(h, p) })
	if !closed {
		<-p.Done()
	}
	_ = p.Close()
	s.mu.Lock()
	delete(s.peers, p)
	if h.attached.Load() {
		s.lastDetached = time.Now()
	}
	s.mu.Unlock()
}

// Attached returns how many processes use the connection, without counting the one of h. A process that has only
// requested the status does not count.
func (s *Socket) Attached(h *Process) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.peers {
		if other != h && other.attached.Load() {
			n++
		}
	}
	return n
}

// Idle returns how long no process has been attached.
func (s *Socket) Idle() time.Duration {
	if s.Attached(nil) > 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.lastDetached)
}

// beginStream counts one more stream. It fails if the streams have been cancelled or the socket has been closed.
func (s *Socket) beginStream() (passed func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.cancelled {
		return nil, cmp.Or(s.Owner.EndReason(), context.Canceled)
	}
	s.streams.Add(1)
	return s.streams.Done, nil
}

// isCancelled reports whether CancelStreams was called. A stream that begins at the same time must then cancel itself.
func (s *Socket) isCancelled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancelled
}

// socketInbound is the maximum number of concurrent requests from one process. It is slightly more than the maximum of
// --jobs.
const socketInbound = 8192

// socketPeer returns the peer for one end of a socket. Its limits are higher than the usual ones, because its messages
// contain whole messages of another connection.
func socketPeer(nc net.Conn, o peer.Options) *peer.Peer {
	limits := wire.Options{MaxMessage: 1 << 30, MaxDepth: wire.DefaultMaxDepth + 16}
	codec := jsonrpc.NewCodec(jsonrpc.Options{Version: jsonrpc.V2, MaxDepth: limits.MaxDepth, AnyParams: true})
	o.MaxMessage = limits.MaxMessage
	return peer.New(framing.Line(nc, limits), codec, o)
}

// CancelStreams cancels every stream that the socket forwards, and no stream can begin after it. It must be called
// while the peer is still connected. It waits at most dialect.CancelTimeout.
func (s *Socket) CancelStreams() {
	s.mu.Lock()
	s.cancelled = true
	for _, h := range s.peers {
		h.cancelAll()
	}
	s.mu.Unlock()
	s.settle(dialect.CancelTimeout)
}

// Meaning returns the error to report for a stream that failed with err. If the session has ended, it returns the
// reason for that.
func (s *Socket) Meaning(err error) error {
	if errors.Is(err, context.Canceled) {
		return cmp.Or(s.Owner.EndReason(), err)
	}
	s.Owner.StreamFailed(err)
	return err
}

// settle waits until no stream is forwarded any longer, for at most d.
func (s *Socket) settle(d time.Duration) {
	passed := make(chan struct{})
	s.wg.Go(func() {
		s.streams.Wait()
		close(passed)
	})
	select {
	case <-passed:
	case <-time.After(d):
	}
}

// DrainTimeout is how long Close waits until responses that arrived before the end of the connection have been
// forwarded.
const DrainTimeout = 500 * time.Millisecond

// Close closes the socket and disconnects all processes. It waits for them as long as a peer's Close does. The
// connection, and all calls on it, must have ended before.
func (s *Socket) Close() { s.CloseAfter(DrainTimeout) }

// CloseAfter is like Close, but with another limit than DrainTimeout.
func (s *Socket) CloseAfter(limit time.Duration) {
	_ = s.Listener.Close()
	if s.Temporary { // a session removes its socket itself
		_ = os.Remove(s.Path)
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.settle(limit)
	var closing sync.WaitGroup
	s.mu.Lock()
	for p := range s.peers {
		closing.Go(func() { _ = p.Close() })
	}
	s.mu.Unlock()
	closing.Wait()
	s.wg.Wait()
}
