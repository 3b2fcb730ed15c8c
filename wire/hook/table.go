package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// These are the defaults of Options.
const (
	DefaultJobs    = 16
	DefaultTimeout = 60 * time.Second
)

// Options apply to all hooks of a table. The zero value is usable.
type Options struct {
	// Jobs bounds how many commands run at once (DefaultJobs by default). The other commands wait, and the next free
	// slot belongs to the client with the fewest slots. jq expressions, constants, co-processes and streams (lines:,
	// see MaxStreams) need no slot.
	Jobs int
	// Timeout bounds the run time of a hook. After it, the hook ends with its process group. 0 is DefaultTimeout, or no
	// limit for streams. A negative value is no limit for all hooks.
	Timeout time.Duration
	Dialect string // RPCX_DIALECT, or "" for unset
	Session string // RPCX_SESSION, or "" for unset
	// Working receives 1 when a hook starts to work on an answer, and -1 when it stops. Several goroutines call it. It
	// may be nil.
	Working func(change int)
	// Hurry ends when the caller stops waiting for hooks. A command that is ending then has transport.HurriedGrace
	// before SIGKILL. nil never ends.
	Hurry context.Context
	// Stderr receives whole lines of the commands' stderr. It may be nil.
	Stderr io.Writer
	// Warn receives lines for the user, without line breaks. Several goroutines call Warn and OnFailure. Warn may be
	// nil.
	Warn func(line string)
	// Park waits for another process to answer the call (Kind Inbox). It is nil outside of sessions.
	Park func(ctx context.Context, r dialect.Request) (json.RawMessage, error)
	// OnOpen runs once for each connection (see ConnectionHooks.Open). It may be nil.
	OnOpen *Answer
	// OnFailure receives each failure of a hook: invalid JSON, a command that did not start, was killed or timed out, a
	// jq error, or the end of a co-process. A hook's deliberate error (an exit status, an error object, a refusal) is
	// not a failure. err is a *wire.Fault of kind Helper. OnFailure may be nil.
	OnFailure func(method string, err error)
}

// A Table is a set of hooks. It is safe for concurrent use.
type Table struct {
	o         Options
	entries   atomic.Pointer[entrySet]
	slots     semaphore
	streams   semaphore    // for commands with streams
	computing semaphore    // for jq expressions during their evaluation
	env       []string     // the environment of all commands, without the variables of single hooks
	busy      atomic.Int64 // the time of the last warning of warnBusy, in nanoseconds since 1970
	failures  atomic.Int64
	lastID    atomic.Int64
	stderr    sync.Mutex              // locked for each whole line
	shared    func() *ConnectionHooks // owns the co-processes of all single exchanges; made at its first use
}

// A chain is the list of entries for one name, in order.
type chain struct {
	pattern string
	literal int // the number of characters without stars
	answers []*Answer
}

// Close ends the co-processes of single exchanges. Other ConnectionHooks have their own Close.
func (t *Table) Close() error { return t.shared().Close() }

// NewTable returns the table of entries. Earlier entries have precedence.
func NewTable(o Options, entries ...Entry) (*Table, error) {
	if o.Jobs <= 0 {
		o.Jobs = DefaultJobs
	}
	t := &Table{o: o, slots: semaphore{free: o.Jobs}, streams: semaphore{free: MaxStreams}, computing: semaphore{free: 2 * runtime.GOMAXPROCS(0)}, env: inherited()}
	t.slots.slow = t.warnBusy
	t.shared = sync.OnceValue(func() *ConnectionHooks { return t.Bind(Binding{}) })
	return t, t.Replace(entries...)
}

// find returns the hook for name: the one with exactly that name, or the first pattern with the most literal
// characters.
func (t *Table) find(name string) *chain {
	set := t.entries.Load()
	if c := set.exact[name]; c != nil {
		return c
	}
	for _, c := range set.patterns {
		if dialect.Matches(c.pattern, name) {
			return c
		}
	}
	return nil
}

// Match reports whether a hook answers name.
func (t *Table) Match(name string) bool { return t.find(name) != nil }

// Parks reports whether calls of name are parked for another process.
func (t *Table) Parks(name string) bool {
	c := t.find(name)
	return c != nil && c.answers[0].Kind == Inbox
}

// Streams reports whether the answer of name is lines:. Such a method is a stream unless a catalog says otherwise.
func (t *Table) Streams(name string) bool {
	c := t.find(name)
	return c != nil && c.answers[0].Kind == Lines
}

// Names returns the exact names in the given order. A dialect may declare them to the peer.
func (t *Table) Names() []string { return slices.Clone(t.entries.Load().names) }

// Failures returns the number of failures, also without OnFailure.
func (t *Table) Failures() int64 { return t.failures.Load() }

// warn warns about the hook for method, and names the client.
func (b *ConnectionHooks) warn(c *chain, method, format string, args ...any) {
	if b.t.o.Warn == nil {
		return
	}
	who := "hook " + c.pattern
	if method != c.pattern && method != "" {
		who += " (" + shown(method) + ")"
	}
	if b.binding.Client != "" {
		who = b.binding.Client + ": " + who
	}
	b.t.o.Warn(who + ": " + fmt.Sprintf(format, args...))
}

// fail counts a failure, warns, and returns the error for the peer, which contains no details.
func (b *ConnectionHooks) fail(c *chain, method, format string, args ...any) *wire.Error {
	t, text := b.t, fmt.Sprintf(format, args...)
	b.warn(c, method, "%s", text)
	t.failures.Add(1)
	if t.o.OnFailure != nil {
		f := wire.NewFault(wire.Helper, "hook "+c.pattern+": "+text, nil)
		f.Method = method
		t.o.OnFailure(method, f)
	}
	return wire.NewError(wire.CodeInternal, "the hook failed")
}

// warnBusy warns that commands wait for a slot, at most once per busyPause.
func (t *Table) warnBusy() {
	now := time.Now().UnixNano()
	last := t.busy.Load()
	if t.o.Warn != nil && now-last > int64(busyPause) && t.busy.CompareAndSwap(last, now) {
		t.o.Warn(fmt.Sprintf("requests wait for one of the %d hook slots (--hook-jobs)", t.o.Jobs))
	}
}

const busyPause = time.Minute

// Failed counts and reports a failure: the answer of method's hook is unusable, for example because it does not match
// the catalog.
func (b *ConnectionHooks) Failed(method, why string) {
	if c := b.t.find(method); c != nil {
		_ = b.fail(c, method, "%s", why)
	}
}

// shown returns a name from the peer in a form that is safe for a terminal.
func shown(name string) string {
	if q := strconv.QuoteToASCII(name); q[1:len(q)-1] != name || len(name) > 80 {
		return cut(q, 120)
	}
	return name
}

// cut returns at most the first n bytes of s.
func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// limit returns the time limit for the answer to r, or 0. Only a stream whose items are passed on one by one may lack a
// limit.
func (o Options) limit(r dialect.Request) time.Duration {
	return o.timeout(r.Stream && !r.Whole && !r.Notification)
}

// timeout returns the limit for one answer, or 0.
func (o Options) timeout(stream bool) time.Duration {
	switch {
	case o.Timeout < 0, o.Timeout == 0 && stream:
		return 0
	case o.Timeout == 0:
		return DefaultTimeout
	}
	return o.Timeout
}

// An entrySet is the entries of a table by name.
type entrySet struct {
	exact    map[string]*chain
	patterns []*chain // in the order of matching
	names    []string
}

// Replace replaces the entries of t. Earlier entries have precedence. Running hooks continue.
func (t *Table) Replace(entries ...Entry) error {
	set := &entrySet{exact: map[string]*chain{}}
	seen := map[string]*chain{}
	for _, e := range entries {
		if e.Pattern == "" {
			return wire.Usagef("a hook needs a name")
		}
		if e.Answer.Kind == JQ && e.Answer.prog == nil {
			a, err := ParseAnswer("jq:" + e.Answer.Text)
			if err != nil {
				return inside("hook "+e.Pattern, err)
			}
			e.Answer = a
		}
		if e.Answer.Kind == Inbox && t.o.Park == nil {
			return wire.Usagef("hook %s: inbox works only in a session", e.Pattern).WithHint("rpcx connect ENDPOINT --session NAME opens one")
		}
		c := seen[e.Pattern]
		if c == nil {
			c = set.add(e.Pattern)
			seen[e.Pattern] = c
		}
		c.answers = append(c.answers, &e.Answer)
	}
	slices.SortStableFunc(set.patterns, func(a, b *chain) int { return b.literal - a.literal })
	t.entries.Store(set)
	return nil
}

func (s *entrySet) add(pattern string) *chain {
	c := &chain{pattern: pattern}
	stars := strings.Count(pattern, "*")
	if stars == 0 {
		s.exact[pattern] = c
		s.names = append(s.names, pattern)
		return c
	}
	c.literal = utf8.RuneCountInString(pattern) - stars
	s.patterns = append(s.patterns, c)
	return c
}
