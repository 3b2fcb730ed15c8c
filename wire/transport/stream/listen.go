package stream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// Listen listens at a TCP or TLS port, or at a Unix socket.
func Listen(ctx context.Context, a transport.Address, c transport.Config) (transport.Listener, error) {
	if c.Token != "" {
		return nil, transport.UsageHint("use ws:// or http://", "%s: does not support --token", a)
	}
	if a.Scheme == "unix" {
		l, err := ListenUnix(a.Path)
		if err != nil {
			return nil, err
		}
		return newStreamListener(l, nil, a.String(), c), nil
	}
	var cfg *tls.Config
	var err error
	if a.Scheme != "tls" {
		c.TLS = transport.TLS{} // plain tcp cannot request certificates
	} else if cfg, err = c.TLS.Server(); err != nil {
		return nil, err
	}
	l, at, err := ListenTCP(ctx, a, c)
	if err != nil {
		return nil, err
	}
	return newStreamListener(l, cfg, a.Scheme+"://"+at, c), nil
}

// A streamListener accepts connections and completes their TLS handshakes.
type streamListener struct {
	net.Listener
	endpoint string
	places   *Limit
	c        transport.Config
	tls      *tls.Config

	ready chan *netStream // TLS connections whose handshakes are complete
	ctx   context.Context // ends when the listener is closed
	end   context.CancelFunc
	wg    sync.WaitGroup
	last  atomic.Bool // set by Drain
}

// A deadliner is a net.Listener that has deadlines.
type deadliner interface{ SetDeadline(t time.Time) error }

// drainTimeout is how long Accept waits, after Drain, for each connection that is still in the listener's queue.
const drainTimeout = 100 * time.Millisecond

// Drain makes Accept return the connections that clients have already made, and then net.ErrClosed.
func (s *streamListener) Drain() {
	if l, ok := s.Listener.(deadliner); ok {
		l.SetDeadline(time.Now()) // before last is set, because acceptOne then sets a later one
		s.last.Store(true)
	}
}

func newStreamListener(l net.Listener, cfg *tls.Config, endpoint string, c transport.Config) *streamListener {
	s := &streamListener{Listener: l, endpoint: endpoint, places: NewLimit(c), c: c, tls: cfg, ready: make(chan *netStream)}
	s.ctx, s.end = context.WithCancel(context.Background())
	if cfg != nil {
		s.wg.Go(s.handshakes)
	}
	return s
}

// Endpoint returns the listen address.
func (s *streamListener) Endpoint() string { return s.endpoint }

// Accept returns the next connection.
func (s *streamListener) Accept() (wire.Conn, error) {
	stream, err := s.next()
	if err != nil {
		return nil, err
	}
	return s.c.Frame(stream, stream.Remote()), nil
}

func (s *streamListener) next() (*netStream, error) {
	if s.tls == nil {
		return s.accept()
	}
	select {
	case stream := <-s.ready:
		return stream, nil
	case <-s.ctx.Done():
		return nil, net.ErrClosed
	}
}

// accept accepts a connection. After a temporary error, such as too many open files or a client that has already
// disconnected, it waits and tries again.
func (s *streamListener) accept() (*netStream, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		stream, err := s.acceptOne()
		if err == nil {
			if tcp, ok := stream.Conn.(*net.TCPConn); ok && s.c.Ping > 0 {
				tcp.SetKeepAliveConfig(keepAlive(s.c.Ping))
			}
			return stream, nil
		}
		if errors.Is(err, net.ErrClosed) {
			return nil, net.ErrClosed
		}
		s.c.Warnf("%s: %v", s.endpoint, err)
		if !wire.Sleep(s.ctx, pause) {
			return nil, net.ErrClosed
		}
	}
}

// acceptOne accepts a connection for which there is a place. After Drain, it does not wait for a client.
func (s *streamListener) acceptOne() (*netStream, error) {
	for {
		last := s.last.Load()
		if last {
			s.Listener.(deadliner).SetDeadline(time.Now().Add(drainTimeout))
		}
		conn, err := s.Listener.Accept()
		switch {
		case err == nil:
			if leave := s.places.Acquire(conn); leave != nil {
				stream := New(conn)
				stream.freePlace = leave
				return stream, nil
			}
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		case last:
			return nil, net.ErrClosed
		}
	}
}

// handshakes accepts TLS connections and runs their handshakes concurrently, because a slow client must not delay
// others.
func (s *streamListener) handshakes() {
	var running sync.WaitGroup
	for {
		stream, err := s.accept()
		if err != nil {
			running.Wait()
			s.end()
			return
		}
		running.Go(func() { s.handshake(stream) })
	}
}

func (s *streamListener) handshake(stream *netStream) {
	ctx, cancel := context.WithTimeout(s.ctx, s.c.ConnectTimeout)
	defer cancel()
	conn, began := tls.Server(&tlsSocket{Conn: stream.Conn}, s.tls), time.Now()
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = stream.Close()
		if !errors.Is(err, context.Canceled) {
			s.c.Warnf("%s: %s: %v", s.endpoint, conn.RemoteAddr(), err)
		}
		return
	}
	s.c.Watch.Secured(conn.RemoteAddr().String(), conn.ConnectionState(), true, time.Since(began))
	secure := New(conn)
	secure.freePlace = stream.freePlace
	select {
	case s.ready <- secure:
	case <-s.ctx.Done():
		_ = secure.Close()
	}
}

// Close closes the listener and cancels handshakes that are not complete.
func (s *streamListener) Close() error {
	err := s.Listener.Close()
	s.end()
	s.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// defaultClients is the default for Config.MaxClients.
const defaultClients = 1000

// Limit limits the number of simultaneous connections to a listener. Connections beyond that are closed.
type Limit struct {
	most   int64
	taken  atomic.Int64
	warn   func(format string, args ...any)
	warned sync.Once
}

func NewLimit(c transport.Config) *Limit {
	return &Limit{most: int64(cmp.Or(max(c.MaxClients, 0), defaultClients)), warn: c.Warnf}
}

// Acquire reserves a place for conn and returns a function that frees the place. That function must be called when conn
// is closed. If no place is free, Acquire closes conn and returns nil.
func (p *Limit) Acquire(conn net.Conn) (leave func()) {
	if p.taken.Add(1) <= p.most {
		return sync.OnceFunc(func() { p.taken.Add(-1) })
	}
	p.taken.Add(-1)
	p.warned.Do(func() {
		p.warn("the number of clients has reached the limit (%d): further connections are refused", p.most)
	})
	conn.Close()
	return nil
}

// identifyTimeout is how long a peer has to show, by sending something, that it is a program other than the expected
// one. Most peers send nothing before a request.
const identifyTimeout = 100 * time.Millisecond

// AcceptPeer accepts a connection that may come from the expected peer.
func (s *streamListener) AcceptPeer() (wire.Conn, error) {
	for {
		stream, err := s.next()
		if err != nil {
			return nil, err
		}
		stream.strict = true
		if stream.first, err = s.readFirst(stream.Conn); err == nil {
			return s.c.Frame(stream, ""), nil
		}
		s.c.Warnf("%s: refused a connection that is not from the expected peer: %v", s.endpoint, err)
		_ = stream.Close()
	}
}

// readFirst returns the first bytes that arrive on conn, or the reason why conn does not come from the expected peer.
func (s *streamListener) readFirst(conn net.Conn) ([]byte, error) {
	words := make([]byte, 4<<10)
	if err := conn.SetReadDeadline(time.Now().Add(identifyTimeout)); err != nil {
		return nil, err
	}
	n, err := conn.Read(words)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, errors.New("it closed the connection at once")
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil || n == 0 {
		return nil, err
	}
	words = words[:n]
	o := s.c.Options
	o.Whole = true // a message that is cut off here may continue
	_, err = s.c.Framing(drainedStream{bytes.NewReader(words)}, o).Recv()
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Protocol {
		return nil, f
	}
	return words, nil
}

// drainedStream is a byte stream of which everything has arrived.
type drainedStream struct{ io.Reader }

func (drainedStream) Write(b []byte) (int, error) { return len(b), nil }
func (drainedStream) Close() error                { return nil }
