package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/jq"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/player"
	"rpcx/wire/tape/transcript"
	"rpcx/wire/transport"
	"rpcx/wire/transport/schemes"
)

// A TapeServer is a listener that plays the server of a tape on its connections.
type TapeServer struct {
	endpoint endpoint.Endpoint
	listener transport.Listener
	player   *player.Server
	fault    error
	wg       sync.WaitGroup
}

// ListenTape listens at e. The TapeServer plays p.
func ListenTape(ctx context.Context, e endpoint.Endpoint, o Options, p *player.Server) (*TapeServer, error) {
	if err := canListen(e); err != nil {
		return nil, err
	}
	if e.Reversed != "" {
		return nil, wire.Usagef("%s: a tape is played to clients that connect; remove dial+ or accept+", e)
	}
	cfg, err := transportConfig(e, o, e.Spec().Transport.ServerBinary)
	if err != nil {
		return nil, err
	}
	if cfg.Sessions != nil { // the tape determines to which protocol versions the server responds
		open := *cfg.Sessions
		open.Values = nil
		cfg.Sessions = &open
	}
	s := &TapeServer{endpoint: e, player: p}
	s.listener, err = schemes.Listen(ctx, e.Address, cfg)
	return s, err
}

// Endpoint returns the address that a client uses, or "" for stdio.
func (s *TapeServer) Endpoint() string {
	return (&Server{endpoint: s.endpoint, listener: s.listener}).Endpoint()
}

// Serve plays on each connection until ctx ends or Close is called. With stdio, it returns when the only connection
// ends.
func (s *TapeServer) Serve(ctx context.Context) error {
	alone := s.endpoint.Address.Scheme == "stdio" || s.endpoint.Address.Scheme == "ipc"
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			s.wg.Wait()
			return s.fault
		}
		if err != nil {
			return err
		}
		s.wg.Go(func() {
			err := s.player.Serve(ctx, conn)
			if alone {
				if ctx.Err() == nil {
					s.fault = err
				}
				_ = s.listener.Close()
			}
		})
	}
}

// Close ends the listener. The connections end when the context of Serve ends.
func (s *TapeServer) Close() error { return s.listener.Close() }

// DialMessages connects to e for a caller that exchanges whole messages itself, such as replay. It does not run a
// handshake or answer requests. closeAll releases the other resources of the connection.
func DialMessages(ctx context.Context, e endpoint.Endpoint, o Options) (conn wire.Conn, closeAll func(), err error) {
	w := &awaiting{}
	closeAll = w.end
	if e.Socket != "" {
		return nil, nil, wire.Usagef("%s is already connected, and a tape needs a new connection", e)
	} else if isEmbedded(e) {
		var end func() error
		conn, end, err = startEmbedded(e, o, 0)
		closeAll = func() { _ = end() }
	} else {
		var cfg transport.Config
		if cfg, err = transportConfig(e, o, e.Spec().Transport.Binary); err == nil {
			conn, err = w.dial(ctx, &e, o, cfg)
		}
	}
	if err != nil {
		w.end()
		return nil, nil, err
	}
	if o.Wrap != nil {
		conn = o.Wrap(conn)
	}
	return conn, closeAll, nil
}

// OpenTape reads the tape in file; "-" is stdin. The parts of messages that ignore selects are not compared. Errors are usage
// Faults that name the line.
func OpenTape(file string, ignore []*jq.Paths) (*transcript.Transcript, error) {
	return transcript.Open(file, os.Stdin, func(dialect string) (*match.Rules, error) {
		shape, err := all.ShapeOf(dialect)
		return match.NewRules(shape, ignore), err
	})
}

// CutShort returns a warning if t, the tape in file, ends in the middle of a line. Otherwise it returns "".
func CutShort(file string, t *transcript.Transcript) string {
	if t.Cut == 0 {
		return ""
	}
	return fmt.Sprintf("the tape %s ends inside line %d, which is skipped", file, t.Cut)
}

// startTape plays the server of the endpoint's tape on one end of a pair, beginning with its connection number first, and
// returns the other end. If there was a
// request that is not on the tape, end returns an Expectation Fault.
func startTape(e endpoint.Endpoint, o Options, first int) (conn wire.Conn, end func() error, err error) {
	t, err := OpenTape(e.Tape, nil)
	if err != nil {
		return nil, nil, err
	}
	if text := CutShort(e.Tape, t); text != "" && o.Transport.Warn != nil {
		o.Transport.Warn(text)
	}
	s, err := player.NewServer(t, player.Options{First: first, Found: func(d match.Difference) {
		if o.Transport.Warn != nil && d.Kind != match.Unknown {
			o.Transport.Warn("the tape " + e.Tape + ": " + d.String())
		}
	}})
	if err != nil {
		_ = t.Close()
		return nil, nil, err
	}
	here, there := transport.Pair()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, there) }()
	stop := func() error {
		cancel()
		err := <-done
		_ = t.Close()
		if n, first := s.Differences(); n > 0 {
			more := ""
			if n > 1 {
				more = fmt.Sprintf(" (and %d more)", n-1)
			}
			return wire.NewFault(wire.Expectation, fmt.Sprintf("the tape %s: %s%s", e.Tape, first, more), nil)
		}
		if ctx.Err() != nil {
			err = nil
		}
		return err
	}
	return here, sync.OnceValue(stop), nil
}
