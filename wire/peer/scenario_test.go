package peer_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/framing"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestScenarios plays testdata/*.txt. "== TITLE" begins a scenario. Each line is a step:
//
//	with OPTION …               nohandler, incoming, v1, header, inbound=N; pair: only over the pair in memory; bubble: only
//	                            in a synctest bubble
//	call|sub|raw|watch N …      opens the operation N (METHOD PARAMS; for raw, the message)
//	notify METHOD PARAMS        sends a notification
//	> JSON                      the peer receives exactly this
//	< TEXT                      the peer sends this
//	= N WHAT                    the next event of N: data, unchanged, "error CODE MESSAGE", "done", "end", or "fault KIND TEXT…"
//	none N                      N has no further event
//	cancel N [DURATION]         cancels N, in the background
//	note KIND TEXT…             the next note
//	took JSON                   the next request that Incoming accepted
//	answered ID                 a message written by the user has answered the request
//	handled METHOD PARAMS       the next notification that the handler received
//	eof | hangup                the peer half-closes; closes
//	close                       rpcx closes
//	sleep DURATION              time passes
//	quiet                       nothing else was sent, noted or accepted
//	over [TEXT…]                the connection has ended with this error
func TestScenarios(t *testing.T) {
	eachScenario(t, func(t *testing.T, steps string) {
		for _, over := range append([]string{"pair"}, framing.Names()...) {
			if over != "pair" && strings.HasPrefix(steps, "with pair") {
				continue
			}
			t.Run(over, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					near, far := connect(over)
					play(&stage{t: t, near: near, far: far}, steps)
				})
			})
		}
	})
}

// eachScenario runs each scenario as a subtest with its title.
func eachScenario(t *testing.T, play func(t *testing.T, steps string)) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		testkit.OK(t, err)
		for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
			title, steps, _ := strings.Cut(part, "\n")
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+title, func(t *testing.T) { play(t, steps) })
		}
	}
}

// A stage runs a scenario.
type stage struct {
	t     *testing.T
	real  bool          // outside a bubble, where steps wait for messages
	later chan struct{} // with real: closed by a sleep step
	near  wire.Conn
	far   wire.Conn
	p     *peer.Peer
	o     peer.Options
	codec jsonrpc.Options
	ops   map[string]dialect.Stream
	wg    sync.WaitGroup

	mu      sync.Mutex
	notes   []peer.Note
	took    []string
	handled []string
	sent    []string // messages to the peer that no step has compared yet
	farErr  error
	caller  dialect.Caller
}

func play(s *stage, steps string) {
	s.ops = map[string]dialect.Stream{}
	s.o = peer.Options{
		Handler: func(c dialect.Caller) dialect.Handler {
			s.caller = c
			return dialect.Handler{Handle: s.Handle, Close: s.Close}
		},
		Note: func(n peer.Note) { s.mu.Lock(); defer s.mu.Unlock(); s.notes = append(s.notes, n) },
	}
	n := 0
	for line := range strings.Lines(steps) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "with" {
			s.with(strings.Fields(rest))
			continue
		}
		if s.p == nil {
			s.start()
		}
		if err := s.step(verb, strings.TrimSpace(rest)); err != nil {
			s.t.Errorf("line %d, %s\n%v", n, line, err)
			break
		}
	}
	s.p.Close()
	s.far.Close()
	s.wg.Wait()
}

func (s *stage) with(options []string) {
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		number := 0
		fmt.Sscan(value, &number)
		switch name {
		case "client":
			s.o.Client = true
		case "nohandler":
			s.o.Handler = nil
		case "incoming":
			s.o.Incoming = s.incoming
		case "v1":
			s.codec.Version = jsonrpc.V1
		case "header":
			s.codec.Cancels = true
		case "inbound":
			s.o.MaxInbound = number
		case "pair", "bubble":
		default:
			s.t.Fatalf("unknown option %s", option)
		}
	}
}

// connect returns both ends of a connection, in memory or with a framing.
func connect(over string) (near, far wire.Conn) {
	frame, ok := framing.ByName(over)
	if !ok {
		return transport.Pair()
	}
	a, b := net.Pipe()
	return frame(a, wire.Options{}), frame(b, wire.Options{})
}

func (s *stage) start() {
	s.p = peer.New(s.near, jsonrpc.NewCodec(s.codec), s.o)
	s.wg.Go(func() {
		for {
			msg, err := s.far.Recv()
			s.mu.Lock()
			if err != nil {
				s.farErr = err
				s.mu.Unlock()
				return
			}
			s.sent = append(s.sent, string(msg))
			s.mu.Unlock()
		}
	})
}

// errNotYet means that a message may still arrive.
var errNotYet = errors.New("not yet")

// step runs a step. In a bubble, all messages have arrived when all goroutines wait. Elsewhere, step waits for the expected
// message, and does not check that there is none.
func (s *stage) step(verb, rest string) error {
	if !s.real {
		synctest.Wait()
		return s.take(verb, rest)
	}
	switch verb {
	case "sleep":
		close(s.later)
		return nil
	case "none", "quiet":
		return nil
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if err := s.take(verb, rest); !errors.Is(err, errNotYet) || time.Now().After(end) {
			return err
		}
	}
}

// patience is far longer than any step takes.
const patience = 30 * time.Second

func (s *stage) take(verb, rest string) error {
	name, arg, _ := strings.Cut(rest, " ")
	switch verb {
	case "call", "sub", "raw", "watch":
		return s.open(verb, name, arg)
	case "notify":
		return s.p.Notify(s.t.Context(), dialect.Op{Kind: dialect.Notify, Method: name, Params: params(arg)})
	case ">":
		return s.expect(&s.sent, rest)
	case "<":
		return s.far.Send([]byte(rest))
	case "=":
		return same(s.next(name), arg)
	case "none":
		if got := s.next(name); got != "nothing" {
			return fmt.Errorf("got %s", got)
		}
	case "cancel":
		return s.cancel(name, arg)
	case "note":
		return s.note(name, arg)
	case "took":
		return s.expect(&s.took, rest)
	case "answered":
		s.p.Answered(wire.ID(rest))
	case "handled":
		return s.expect(&s.handled, rest)
	case "eof":
		return s.far.(wire.HalfCloser).CloseSend()
	case "hangup":
		return s.far.Close()
	case "close":
		s.wg.Go(func() { s.p.Close() })
	case "sleep":
		d, err := time.ParseDuration(rest)
		time.Sleep(d)
		return err
	case "quiet":
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.sent)+len(s.notes)+len(s.took)+len(s.handled) > 0 {
			return fmt.Errorf("unexpected: sent %q, notes %v, taken %q, handled %q", s.sent, s.notes, s.took, s.handled)
		}
	case "over":
		return s.over(rest)
	default:
		return errors.New("unknown step")
	}
	return nil
}
