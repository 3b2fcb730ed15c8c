package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// A Binding is what hooks need of a connection.
type Binding struct {
	// Caller calls the peer, for rpc in jq. It may be nil.
	Caller dialect.Caller
	// Endpoint returns an endpoint at which commands can use this connection. RPCX_ENDPOINT of a command is this
	// endpoint, "#" and the hook's id. The first call may open a socket. Endpoint may be nil.
	Endpoint func() (string, error)
	// Client is the name of the peer in warnings, or "" if it is the only peer.
	Client string
	// SingleExchange reports that the connection is a single HTTP exchange (a POST). Such connections share
	// co-processes, which run until Table.Close, because a co-process for each POST could keep no state.
	SingleExchange bool
}

// ConnectionHooks answer the requests of one connection and own the processes that
// they start for it.
type ConnectionHooks struct {
	t       *Table
	binding Binding
	ctx     context.Context // cancelled by Close
	cancel  context.CancelFunc
	// The shares of this connection in the table's semaphores.
	commands, streams, computing share

	wg       sync.WaitGroup // waits for pending answers and for processes
	coWG     sync.WaitGroup // co-processes
	starting sync.Mutex     // guards cos; locked while a co-process starts
	cos      map[*Answer]*coprocess

	mu         sync.Mutex
	running    map[string]*runningCommand
	noEndpoint sync.Once // the user is warned that there is no endpoint
}

// Bind returns the hooks of one connection.
func (t *Table) Bind(b Binding) *ConnectionHooks {
	ctx, cancel := context.WithCancel(context.Background())
	return &ConnectionHooks{
		t: t, binding: b, ctx: ctx, cancel: cancel,
		commands: share{of: &t.slots}, streams: share{of: &t.streams}, computing: share{of: &t.computing},
		running: map[string]*runningCommand{}, cos: map[*Answer]*coprocess{},
	}
}

var (
	// errNotMine means that the next hook of the chain must respond instead.
	errNotMine = errors.New("left to the next hook")
	errClosed  = errors.New("the connection is closed")
)

// Answer answers r. The error is a *wire.Error for the peer, or the error of ctx if ctx or the connection has ended. If
// r.Stream is set, r.Emit receives the events. A result that is not a stream then becomes the only item. If a
// notification fails, Answer only warns.
func (b *ConnectionHooks) Answer(ctx context.Context, r dialect.Request) (json.RawMessage, error) {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if w := b.t.o.Working; w != nil {
		w(1)
		defer w(-1)
	}
	r.Stream = r.Stream && r.Emit != nil
	c := b.t.find(r.Method)
	if c == nil {
		return nil, notFound()
	}
	for _, a := range c.answers {
		out, err := b.answer(ctx, c, a, r)
		switch {
		case err == errNotMine:
			continue
		case err != nil && r.Notification:
			b.noteFailed(c, r, err)
			return nil, nil
		case err != nil:
			return nil, err
		case r.Stream && a.Kind != Lines && a.Kind != JQ && !r.Notification:
			return out, r.Emit(wire.Event{Kind: wire.Data, Data: out})
		}
		return out, nil
	}
	if r.Notification {
		return nil, nil
	}
	e := notFound()
	e.Hint = fmt.Sprintf("the hook for %s passed (status %d), and no other hook answered", shown(r.Method), exNotMine)
	return nil, e
}

func notFound() *wire.Error { return wire.NewError(wire.CodeNoMethod, "method not found") }

// noteFailed warns about an error that is not sent to the peer, and calls r.Refused.
func (b *ConnectionHooks) noteFailed(c *chain, r dialect.Request, err error) {
	if r.Refused != nil {
		r.Refused()
	}
	if e, ok := errors.AsType[*wire.Error](err); ok && string(e.Code) != strconv.Itoa(wire.CodeInternal) {
		what := "the notification failed"
		if c == onOpen {
			what = "failed"
		}
		b.warn(c, r.Method, "%s: %s", what, e.Message)
	}
}

// answer returns one hook's answer.
func (b *ConnectionHooks) answer(ctx context.Context, c *chain, a *Answer, r dialect.Request) (json.RawMessage, error) {
	switch a.Kind {
	case JSON:
		return json.RawMessage(strings.TrimSpace(a.Text)), nil
	case Deny:
		return nil, wire.NewError(wire.CodeRefused, a.Text)
	case Inbox:
		if work := b.t.o.Working; work != nil { // no program is working, so the idle timeouts of waiting processes run on
			work(-1)
			defer work(1)
		}
		return b.t.o.Park(ctx, r)
	case JQ:
		return b.answerJQ(ctx, c, a.prog(), r)
	case Co:
		return b.answerCo(ctx, c, a, r)
	}
	return b.answerCommand(ctx, c, a, r)
}

// answerJQ runs a jq expression. Unless r is a stream or a notification, it must have one output; none means null.
func (b *ConnectionHooks) answerJQ(ctx context.Context, c *chain, prog *jq.Program, r dialect.Request) (json.RawMessage, error) {
	if err := b.computing.acquireWith(ctx, dialect.FlowControlOf(ctx)); err != nil {
		return nil, err
	}
	defer b.computing.release()
	ctx, stop := b.bound(ctx, r)
	defer stop()
	in := scan.OrNull(r.Params)
	last, outputs := json.RawMessage("null"), 0
	ctx = context.WithValue(ctx, jqContextKey{}, jqContext{b.binding.Caller, &b.computing, r.Vars["RPCX_OBJECT"]})
	err := prog.Run(ctx, in, func(out json.RawMessage) (bool, error) {
		last = out
		switch outputs++; {
		case r.Notification:
			return true, nil
		case r.Stream:
			defer b.computing.pause()()
			return true, r.Emit(wire.Event{Kind: wire.Data, Data: out})
		}
		return outputs < 2, nil
	})
	switch rpc, ok := errors.AsType[*wire.Error](err); {
	case err == nil && outputs > 1 && !r.Stream && !r.Notification:
		return nil, b.fail(c, r.Method, "the jq program has more than one output; write [PROGRAM] for an array")
	case err == nil:
		return last, nil
	case ctx.Err() != nil:
		return nil, b.stopped(ctx, c, r)
	case ok:
		return nil, rpc
	case wire.AsFault(err) == nil:
		return nil, err // the error of Emit
	}
	return nil, b.fail(c, r.Method, "%v", err)
}

// errTimeLimit is the cause if a context ends because the hook's own time limit has passed.
var errTimeLimit = errors.New("the hook timed out")

// bound returns ctx with the time limit for one hook.
func (b *ConnectionHooks) bound(ctx context.Context, r dialect.Request) (context.Context, func()) {
	if d := b.t.o.limit(r); d > 0 {
		return dialect.WithWorkLimit(ctx, d, errTimeLimit)
	}
	return context.WithCancel(ctx)
}

// stopped returns the error for a hook whose context, which bound has made, has ended.
func (b *ConnectionHooks) stopped(ctx context.Context, c *chain, r dialect.Request) error {
	if errors.Is(context.Cause(ctx), errTimeLimit) {
		return b.fail(c, r.Method, "timed out after %v", b.t.o.limit(r))
	}
	return ctx.Err()
}

// enter returns a copy of ctx that Close also ends.
func (b *ConnectionHooks) enter(ctx context.Context) (context.Context, func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return nil, nil, errClosed
	}
	b.wg.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.ctx, func() { cancel(errClosed) })
	return ctx, func() { stop(); cancel(nil); b.wg.Done() }, nil
}

// Close kills the process groups of this connection. It returns when all of them, and all calls of Answer, have ended.
// Further calls do nothing.
func (b *ConnectionHooks) Close() error {
	b.mu.Lock()
	b.cancel() // with the lock held, because enter counts answers only before that
	b.mu.Unlock()
	done := wire.Go(func() {
		b.wg.Wait()
		b.coWG.Wait()
	})
	select {
	case <-done:
		return nil
	case <-time.After(closeBound):
		return errors.New("hooks did not end in time")
	}
}

// closeBound is longer than a killed process takes to end.
const closeBound = 10 * time.Second

// ParseOnOpen parses the ANSWER of --on-open: a command or a jq expression that runs once for each connection. Errors
// are usage Faults.
func ParseOnOpen(s string) (*Answer, error) {
	a, err := ParseAnswer(s)
	if err != nil {
		return nil, inside("--on-open", err)
	}
	switch a.Kind {
	case Sh, Text, Lines, JQ:
		return &a, nil
	}
	return nil, wire.Usagef("--on-open: %q has no effect, because there is no call to answer", s).
		WithHint("--on-open takes a command, or jq: with rpc or notify")
}

// onOpen stands for the --on-open hook in warnings.
var onOpen = &chain{pattern: "--on-open"}

// Open runs the hook of Options.OnOpen. The connection must be ready. For a single exchange, it does nothing.
func (b *ConnectionHooks) Open() {
	a := b.t.o.OnOpen
	if a == nil || b.binding.SingleExchange {
		return
	}
	ctx, leave, err := b.enter(context.Background())
	if err != nil {
		return
	}
	go func() {
		defer leave()
		_, err := b.answer(ctx, onOpen, a, dialect.Request{Notification: true})
		switch _, ok := errors.AsType[*wire.Error](err); {
		case ctx.Err() != nil:
		case err == errNotMine:
			b.warn(onOpen, "", "ended with status %d", exNotMine)
		case ok:
			b.noteFailed(onOpen, dialect.Request{}, err)
		}
	}()
}
