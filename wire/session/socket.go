package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
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
	"rpcx/wire/framing"
	"rpcx/wire/peer"
)

// A socket offers one connection to other processes of ours: a hook finds it in
// its RPCX_ENDPOINT. It speaks JSON-RPC 2.0, a line a message; its methods are
// the Conversation's: hello, open (a stream, ended by cancel) and notify. What
// else there is, such as describing, is made of these.
type socket struct {
	caller   dialect.Caller
	spec     Spec
	shown    string
	suspend  func(hook string) (resume func())
	path     string
	listener net.Listener

	mu      sync.Mutex
	peers   map[*peer.Peer]bool
	closed  bool
	passing sync.WaitGroup // streams that are passed on; none is added when closed
	wg      sync.WaitGroup
}

// newSocket binds a socket that nobody else can reach.
func newSocket(c dialect.Caller, spec Spec, e Endpoint, suspend func(string) func()) (*socket, error) {
	dir, err := runtimeDir()
	if err != nil {
		return nil, err
	}
	var name [8]byte
	_, _ = rand.Read(name[:])
	s := &socket{
		caller: c, spec: spec, shown: e.String(), suspend: suspend, peers: map[*peer.Peer]bool{},
		path: filepath.Join(dir, "c-"+hex.EncodeToString(name[:])),
	}
	if s.listener, err = net.Listen("unix", s.path); err != nil {
		return nil, fmt.Errorf("binding the socket that hooks call back on: %w", err)
	}
	if err := os.Chmod(s.path, 0o600); err != nil {
		s.listener.Close()
		return nil, err
	}
	s.wg.Go(s.serve)
	return s, nil
}

func (s *socket) endpoint() string { return "conversation:" + s.path }

func (s *socket) serve() {
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() { s.converse(nc) })
	}
}

func (s *socket) converse(nc net.Conn) {
	h := &socketHandler{socket: s, open: map[string]context.CancelFunc{}}
	p := socketPeer(nc, peer.Options{Handler: func(dialect.Caller) dialect.Handler { return h }, Drain: time.Millisecond})
	s.mu.Lock()
	s.peers[p] = true
	closed := s.closed
	s.mu.Unlock()
	if !closed {
		<-p.Done()
	}
	_ = p.Close()
	s.mu.Lock()
	delete(s.peers, p)
	s.mu.Unlock()
}

// pass says that a stream begins, unless the socket is closed.
func (s *socket) pass() (passed func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.passing.Add(1)
	return s.passing.Done, true
}

// socketPeer is either end of a connection to a socket. What crosses it are the
// messages of another connection, wrapped: its limits are wider than theirs.
func socketPeer(nc net.Conn, o peer.Options) *peer.Peer {
	limits := wire.Options{MaxMessage: 1 << 30, MaxDepth: wire.DefaultMaxDepth + 16}
	codec := jsonrpc.NewCodec(jsonrpc.Options{Version: jsonrpc.V2, MaxDepth: limits.MaxDepth})
	return peer.New(framing.Line(nc, limits), codec, o)
}

// lastWords is how long Close waits for answers to get through, which came
// before the connection ended.
const lastWords = 500 * time.Millisecond

// Close removes the socket, ends all that came through it and waits for that,
// which is bounded as a peer's Close is. The connection has ended by then, and
// with it each call on it.
func (s *socket) Close() {
	_ = s.listener.Close()
	_ = os.Remove(s.path)
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	passed := make(chan struct{})
	s.wg.Go(func() {
		s.passing.Wait()
		close(passed)
	})
	select {
	case <-passed:
	case <-time.After(lastWords):
	}
	var closing sync.WaitGroup
	s.mu.Lock()
	for p := range s.peers {
		closing.Go(func() { _ = p.Close() })
	}
	s.mu.Unlock()
	closing.Wait()
	s.wg.Wait()
}

// maxSocketPath is what fits into sockaddr_un everywhere; socketName is as long
// as the names that newSocket makes.
const (
	maxSocketPath = 103
	socketName    = "c-0123456789abcdef"
)

// runtimeDir is the folder for sockets: below $XDG_RUNTIME_DIR, else, and where
// the path of a socket would be too long, one of this user below the temporary
// one. It is 0700 and ours, or it is refused.
func runtimeDir() (string, error) {
	mine := "rpcx-" + strconv.Itoa(os.Getuid())
	places := []string{filepath.Join(os.TempDir(), mine), filepath.Join("/tmp", mine)}
	if xdg := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(xdg) {
		places = append([]string{filepath.Join(xdg, "rpcx")}, places...)
	}
	for _, dir := range places {
		if !filepath.IsAbs(dir) || len(dir)+1+len(socketName) > maxSocketPath {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("making the folder for sockets: %w", err)
		}
		return dir, checkOwn(dir)
	}
	return "", fmt.Errorf("the path of a socket may have %d bytes: %s is too long", maxSocketPath, places[0])
}
