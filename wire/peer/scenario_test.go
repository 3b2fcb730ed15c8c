package peer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	"rpcx/wire/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestScenarios plays testdata/*.txt, where "== TITLE" begins a scenario. Each
// line is a step:
//
//	with OPTION …               nohandler, incoming, v1, lsp, inbound=N; pair: only over the pair in memory
//	call|sub|raw|watch N …      opens an operation called N (METHOD PARAMS; for raw the message)
//	notify METHOD PARAMS        sends a notification
//	> JSON                      the far side receives exactly this
//	< TEXT                      the far side sends this
//	= N WHAT                    the next of N: data as it stands, "error CODE MESSAGE", "done", "end", or "fault KIND TEXT…"
//	none N                      nothing of N is there
//	cancel N [DURATION]         cancels it, in the background
//	note KIND TEXT…             the next note
//	took JSON                   the next that Incoming saw
//	answer ID JSON              answers what Incoming took
//	handled METHOD PARAMS       the next notification that the handler got
//	eof | hangup                the far side half-closes, closes
//	close                       closes the peer
//	sleep DURATION              time passes
//	quiet                       nothing else was sent, noted or taken
//	over [TEXT…]                the connection has ended, with this error
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
			title, steps, _ := strings.Cut(part, "\n")
			for _, over := range append([]string{"pair"}, framing.Names()...) {
				if over != "pair" && strings.HasPrefix(steps, "with pair") {
					continue
				}
				t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+title+"/"+over, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { play(t, over, steps) })
				})
			}
		}
	}
}

// stage is where a scenario is played.
type stage struct {
	t     *testing.T
	wires string
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
	sent    []string // to the far side, unread
	farErr  error
	caller  dialect.Caller
}

func play(t *testing.T, over, steps string) {
	s := &stage{t: t, wires: over, ops: map[string]dialect.Stream{}}
	s.o = peer.Options{
		Handler: func(c dialect.Caller) dialect.Handler { s.caller = c; return s },
		Note:    func(n peer.Note) { s.mu.Lock(); defer s.mu.Unlock(); s.notes = append(s.notes, n) },
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
			t.Errorf("line %d, %s\n%v", n, line, err)
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
		case "nohandler":
			s.o.Handler = nil
		case "incoming":
			s.o.Incoming = s.incoming
		case "v1":
			s.codec.Version = jsonrpc.V1
		case "lsp":
			s.codec.CancelMethod = "$/cancelRequest"
		case "inbound":
			s.o.MaxInbound = number
		case "pair":
		default:
			s.t.Fatalf("unknown option %s", option)
		}
	}
}

// connect returns the ends of a connection: in memory, or with a framing.
func connect(over string) (near, far wire.Conn) {
	frame, ok := framing.ByName(over)
	if !ok {
		return transport.Pair()
	}
	a, b := net.Pipe()
	return frame(a, wire.Options{}), frame(b, wire.Options{})
}

func (s *stage) start() {
	var near wire.Conn
	near, s.far = connect(s.wires)
	s.p = peer.New(near, jsonrpc.NewCodec(s.codec), s.o)
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

func (s *stage) step(verb, rest string) error {
	synctest.Wait()
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
	case "answer":
		return s.p.Answer(wire.ID(name), []byte(arg))
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
			return fmt.Errorf("there is: sent %q, notes %v, taken %q, handled %q", s.sent, s.notes, s.took, s.handled)
		}
	case "over":
		return s.over(rest)
	default:
		return errors.New("unknown step")
	}
	return nil
}

func (s *stage) open(verb, name, arg string) error {
	method, args, _ := strings.Cut(arg, " ")
	op := dialect.Op{Kind: dialect.Call, Method: method, Params: params(args)}
	switch verb {
	case "sub":
		op.Kind = dialect.Subscribe
	case "watch":
		op.Kind = dialect.Watch
	case "raw":
		op = dialect.Op{Kind: dialect.Raw, Params: []byte(arg)}
	}
	stream, err := s.p.Open(s.t.Context(), op)
	if err != nil {
		stream = failed{err}
	}
	s.ops[name] = stream
	return nil
}

// failed is a stream that never was.
type failed struct{ err error }

func (f failed) Next(context.Context) (wire.Message, error) { return wire.Message{}, f.err }
func (f failed) Cancel(context.Context) error               { return nil }

func params(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// next is the next of an operation, as the steps write it; "nothing" when it
// would have to wait.
func (s *stage) next(name string) string {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Nanosecond)
	defer cancel()
	m, err := s.ops[name].Next(ctx)
	var f *wire.Fault
	switch {
	case err == io.EOF:
		return "end"
	case errors.Is(err, context.DeadlineExceeded):
		return "nothing"
	case errors.As(err, &f):
		return "fault " + string(f.Kind) + " " + f.Error()
	case err != nil:
		return "err " + err.Error()
	}
	ev, err := s.p.Codec().Event(m)
	switch {
	case err != nil:
		return err.Error()
	case ev.Kind == wire.Failure:
		return "error " + string(ev.Err.Code) + " " + ev.Err.Message
	case ev.Kind == wire.Done:
		return "done"
	}
	return string(ev.Data)
}

func (s *stage) cancel(name, arg string) error {
	bound := time.Minute
	if arg != "" {
		var err error
		if bound, err = time.ParseDuration(arg); err != nil {
			return err
		}
	}
	s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(s.t.Context(), bound)
		defer cancel()
		_ = s.ops[name].Cancel(ctx)
	})
	return nil
}

// note demands a note; notes come from several goroutines, so they have no order.
func (s *stage) note(kind, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.notes, func(n peer.Note) bool {
		return noteNames[n.Kind] == kind && strings.Contains(n.Text, text)
	})
	if i < 0 {
		return fmt.Errorf("there is none among %v", s.notes)
	}
	s.notes = slices.Delete(s.notes, i, i+1)
	return nil
}

var noteNames = map[peer.NoteKind]string{
	peer.NoteUnhandledRequest: "unhandled-request", peer.NoteUnhandledNotification: "unhandled-notification",
	peer.NoteFailedNotification: "failed-notification", peer.NoteUnknownResponse: "unknown-response",
	peer.NoteStrayError: "stray-error", peer.NoteMalformed: "malformed", peer.NoteBusy: "busy",
	peer.NoteDropped: "dropped", peer.NotePanic: "panic", peer.NoteUnsent: "unsent",
}

func (s *stage) expect(list *[]string, want string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*list) == 0 {
		return errors.New("there is nothing")
	}
	got := (*list)[0]
	*list = (*list)[1:]
	return same(got, want)
}

func same(got, want string) error {
	if prefix, ok := strings.CutSuffix(want, "…"); ok && strings.HasPrefix(got, prefix) || got == want {
		return nil
	}
	return fmt.Errorf("got  %s\nwant %s", got, want)
}

func (s *stage) over(want string) error {
	select {
	case <-s.p.Done():
	default:
		return errors.New("it goes on")
	}
	got := ""
	if err := s.p.Err(); err != nil {
		got = err.Error()
	}
	return same(got, want)
}

func (s *stage) incoming(m wire.Message) bool {
	if strings.HasPrefix(m.Method, "hook") {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, string(m.Raw))
	return true
}

// Close is the handler's.
func (s *stage) Close() error { return nil }

// Handle is what answers in scenarios.
func (s *stage) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	if in.Msg.Kind == wire.Notification {
		return nil, s.handleNotification(ctx, in.Msg)
	}
	switch in.Msg.Method {
	case "echo", "hookecho":
		return in.Msg.Params, nil
	case "fail":
		return nil, wire.Errorf(-32005, "no luck").WithData("really")
	case "broken":
		return nil, errors.New("disk on fire")
	case "boom":
		panic("boom")
	case "exit":
		runtime.Goexit()
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	case "sleep":
		time.Sleep(time.Second)
		return json.RawMessage(`"slept"`), nil
	case "ask": // a nested call
		return s.caller.Call(ctx, "asked", in.Msg.Params)
	case "ticks":
		return nil, s.ticks(in)
	}
	return nil, wire.Errorf(wire.CodeNoMethod, "method not found: %s", in.Msg.Method)
}

func (s *stage) ticks(in *dialect.Inbound) error {
	in.Answered = true
	id := wire.ID(`"t1"`)
	_ = in.Emit(wire.Event{Kind: wire.Opened, Stream: id})
	_ = in.Emit(wire.Event{Kind: wire.Data, Stream: id, Data: json.RawMessage("1")})
	_ = in.Emit(wire.Event{Kind: wire.Progress, Stream: id})
	_ = in.Emit(wire.Event{Kind: wire.Data, Stream: id, Data: json.RawMessage("2")})
	return in.Emit(wire.Event{Kind: wire.Done, Stream: id, Final: true})
}

func (s *stage) handleNotification(ctx context.Context, m wire.Message) error {
	switch m.Method {
	case "unknown":
		return wire.Errorf(wire.CodeNoMethod, "method not found")
	case "broken":
		return errors.New("disk on fire")
	case "boom":
		panic("boom")
	case "ask":
		if _, err := s.caller.Call(ctx, "asked", nil); err != nil {
			return err
		}
	case "slow":
		time.Sleep(time.Second)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handled = append(s.handled, strings.TrimSpace(m.Method+" "+string(m.Params)))
	return nil
}
