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
	"strconv"
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

	cancelled     context.Context // ended by CancelStreams
	cancelStreams context.CancelFunc

	mu           sync.Mutex
	peers        map[*peer.Peer]*Process
	lastDetached time.Time // when the last attached process disconnected; at first, when the socket was created
	closed       bool
	working      int            // the number of working hooks
	worked       wire.Gate      // opens when hooks start or stop working
	streams      sync.WaitGroup // the streams that are being forwarded; none is added once the socket is closed or cancelled has ended
	wg           sync.WaitGroup
}

// ServerOptions configures a Socket.
type ServerOptions struct {
	Upstream func(ctx context.Context) (Backend, error) // returns the connection; a session waits until it is live
	Hooks    dialect.Commands                           // the hooks that use the socket; nil if it belongs to a session
	Session  Session                                    // nil if hooks use the socket
	Dialect  string                                     // the dialect of Upstream; "" if Methods contains a hello that returns it
	Shown    string                                     // the redacted endpoint of Upstream
	Methods  map[string]Method                          // additional methods; they override the methods of the same name that every socket has
	Path     string
	Listener net.Listener
}

// A Session receives the events of its socket.
type Session interface {
	// ClientGone reports that a process has disconnected.
	ClientGone(client *Process)
	// EndReason returns the error for streams that end because the session has ended. Before that, it returns nil.
	EndReason() error
	// StreamFailed reports that a stream failed although the session has not ended.
	StreamFailed(err error)
}

// ListenForHooks creates a private socket for the hooks of a connection. far is that connection.
func ListenForHooks(far Backend, funcs *Functions, name string, e endpoint.Endpoint, hooks dialect.Commands) (*Socket, error) {
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
	upstream := func(context.Context) (Backend, error) { return far, nil }
	s := New(funcs, ServerOptions{Upstream: upstream, Hooks: hooks, Dialect: name, Shown: e.String(), Path: path, Listener: l})
	s.Serve()
	return s, nil
}

// New returns a Socket. Processes can connect only after Serve.
func New(funcs *Functions, o ServerOptions) *Socket {
	s := &Socket{Functions: funcs, ServerOptions: o, peers: map[*peer.Peer]*Process{}, lastDetached: time.Now()}
	s.cancelled, s.cancelStreams = context.WithCancel(context.Background())
	return s
}

// Serve starts to accept processes.
func (s *Socket) Serve() { s.wg.Go(s.serve) }

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
	h := &Process{socket: s, number: strconv.FormatInt(s.last.Add(1), 10), open: map[string]openStream{}}
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
	s.mu.Unlock()
	s.wg.Go(func() { s.notifyWorking(p) })
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
	if s.closed || s.cancelled.Err() != nil {
		return nil, s.Meaning(context.Canceled)
	}
	s.streams.Add(1)
	return s.streams.Done, nil
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
	s.cancelStreams()
	s.mu.Unlock()
	s.settle(dialect.CancelTimeout)
}

// Meaning returns the error to report for a stream that failed with err. If the session has ended, it returns the
// reason for that.
func (s *Socket) Meaning(err error) error {
	switch {
	case s.Session == nil:
	case errors.Is(err, context.Canceled):
		return cmp.Or(s.Session.EndReason(), err)
	default:
		s.Session.StreamFailed(err)
	}
	return err
}

// settle waits until no stream is forwarded any longer, for at most d.
func (s *Socket) settle(d time.Duration) {
	passed := make(chan struct{})
	s.wg.Go(func() {
		s.streams.Wait()
		close(passed)
	})
	wire.Either(passed, time.After(d))
}

// DrainTimeout is the usual limit for Close.
const DrainTimeout = 500 * time.Millisecond

// Close closes the socket. It waits up to drain until earlier messages have been forwarded, and disconnects all
// processes. It waits for them as long as a peer's Close does. The connection, and all calls on it, must have ended
// before.
func (s *Socket) Close(drain time.Duration) {
	_ = s.Listener.Close()
	if s.Session == nil { // a session removes its socket itself
		_ = os.Remove(s.Path)
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.settle(drain)
	var closing sync.WaitGroup
	s.mu.Lock()
	for p := range s.peers {
		closing.Go(func() { _ = p.Close() })
	}
	s.mu.Unlock()
	closing.Wait()
	s.wg.Wait()
}
