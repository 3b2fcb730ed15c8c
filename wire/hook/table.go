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

// Defaults of Options.
const (
	DefaultJobs    = 16
	DefaultTimeout = 60 * time.Second
)

// Options apply to all hooks of a table. The zero value is usable.
type Options struct {
	// Jobs is the maximum number of commands that run at the same time (DefaultJobs by default). Other commands wait
	// for a slot, and the client with the fewest slots gets the next free one. jq expressions, constants, co-processes
	// and streams (lines:, see MaxStreams) need no slot.
	Jobs int
	// Timeout limits how long a hook may run. Then its process group is killed. 0 stands for DefaultTimeout, but means
	// no limit for streams. A negative value means no limit for any hook.
	Timeout time.Duration
	Dialect string // RPCX_DIALECT, or "" to leave it unset
	Session string // RPCX_SESSION, or "" to leave it unset
	// Working is called with 1 when a hook starts to work on an answer, and with -1 when it stops. Several goroutines
	// can call it. It may be nil.
	Working func(change int)
	// Hurry ends when the caller no longer waits for hooks to end. Commands that are being ended then have only
	// transport.HurriedGrace before SIGKILL. nil never ends.
	Hurry context.Context
	// Stderr receives whole lines of the commands' stderr. It may be nil.
	Stderr io.Writer
	// Warn receives lines for the user, without line breaks. Several goroutines can call Warn and OnFailure. Warn may
	// be nil.
	Warn func(line string)
	// Park waits for another process to answer the call (Kind Inbox). It is nil if there is no session.
	Park func(ctx context.Context, r dialect.Request) (json.RawMessage, error)
	// OnOpen runs once for each connection (see ConnectionHooks.Open). It may be nil.
	OnOpen *Answer
	// OnFailure receives each failure of a hook: invalid JSON, a command that did not start, was killed or timed out, a
	// jq error, or the end of a co-process. An error that a hook returns deliberately (by an exit status, an error
	// object or a refusal) is not a failure. err is a *wire.Fault of kind Helper. OnFailure may be nil.
	OnFailure func(method string, err error)
}

// A Table is a set of hooks. It is safe for concurrent use.
type Table struct {
	o         Options
	entries   atomic.Pointer[entrySet]
	slots     semaphore
	streams   semaphore    // for the commands of streams
	computing semaphore    // for jq expressions that are being evaluated
	env       []string     // the environment that all commands have, without the variables for each hook
	busy      atomic.Int64 // when warnBusy last warned, in nanoseconds since 1970
	lastID    atomic.Int64
	stderr    sync.Mutex              // locked while whole lines are written
	shared    func() *ConnectionHooks // owns the co-processes of all single exchanges; created when it is first used
}

// A chain lists the entries with one name, in order.
type chain struct {
	pattern string
	literal int // the number of characters other than stars
	answers []*Answer
}

// Close ends the co-processes of single exchanges. Other ConnectionHooks have their own method Close.
func (t *Table) Close() error { return t.shared().Close() }

// NewTable returns a table of entries. Earlier entries take precedence.
func NewTable(o Options, entries ...Entry) (*Table, error) {
	if o.Jobs <= 0 {
		o.Jobs = DefaultJobs
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	t := &Table{o: o, slots: semaphore{free: o.Jobs}, streams: semaphore{free: MaxStreams}, computing: semaphore{free: 2 * runtime.GOMAXPROCS(0)}, env: inherited()}
	t.slots.slow = t.warnBusy
	t.shared = sync.OnceValue(func() *ConnectionHooks { return t.Bind(Binding{}) })
	return t, t.Replace(entries...)
}

// find returns the hook for name: the one with exactly that name, or otherwise, of the patterns that match, the first
// of those with the most literal characters.
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

// Match reports whether there is a hook for name.
func (t *Table) Match(name string) bool { return t.find(name) != nil }

// Kind returns the kind of the hook for name, or "" if there is none.
func (t *Table) Kind(name string) Kind {
	if c := t.find(name); c != nil {
		return c.answers[0].Kind
	}
	return ""
}

// Names returns the names of hooks that are not patterns, in the given order. Dialects can declare them to the peer.
func (t *Table) Names() []string { return slices.Clone(t.entries.Load().names) }

// warn prints a warning about the hook for method. It contains the name of the client.
func (b *ConnectionHooks) warn(c *chain, method, format string, args ...any) {
	who := "hook " + c.pattern
	if method != c.pattern && method != "" {
		who += " (" + shown(method) + ")"
	}
	if b.binding.Client != "" {
		who = b.binding.Client + ": " + who
	}
	b.t.o.Warn(who + ": " + fmt.Sprintf(format, args...))
}

// fail reports a failure, warns about it, and returns an error without details for the peer.
func (b *ConnectionHooks) fail(c *chain, method, format string, args ...any) *wire.Error {
	t, text := b.t, fmt.Sprintf(format, args...)
	b.warn(c, method, "%s", text)
	if t.o.OnFailure != nil {
		f := wire.NewFault(wire.Helper, "hook "+c.pattern+": "+text, nil)
		f.Method = method
		t.o.OnFailure(method, f)
	}
	return wire.NewError(wire.CodeInternal, "the hook failed")
}

// warnBusy warns, at most once in busyPause, that commands wait for a slot.
func (t *Table) warnBusy() {
	now := time.Now().UnixNano()
	last := t.busy.Load()
	if now-last > int64(busyPause) && t.busy.CompareAndSwap(last, now) {
		t.o.Warn(fmt.Sprintf("requests wait for one of the %d hook slots (--hook-jobs)", t.o.Jobs))
	}
}

const busyPause = time.Minute

// Failed reports a failure: the answer of the hook for method cannot be used, for example because it does
// not match the catalog.
func (b *ConnectionHooks) Failed(method, why string) {
	if c := b.t.find(method); c != nil {
		_ = b.fail(c, method, "%s", why)
	}
}

// shown returns a name from the peer in a form that is safe for terminals.
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

// limit returns the time limit for the answer to r, or 0. A stream can have none, but only if its items are forwarded
// one by one.
func (o Options) limit(r dialect.Request) time.Duration {
	switch stream := r.Stream && !r.Whole && !r.Notification; {
	case o.Timeout < 0, o.Timeout == 0 && stream:
		return 0
	case o.Timeout == 0:
		return DefaultTimeout
	}
	return o.Timeout
}

// An entrySet contains the entries of a table by name.
type entrySet struct {
	exact    map[string]*chain
	patterns []*chain // in the order in which they are tried
	names    []string
}

// Replace replaces the entries of t. Earlier entries take precedence. Hooks that are running continue.
func (t *Table) Replace(entries ...Entry) error {
	set := &entrySet{exact: map[string]*chain{}}
	seen := map[string]*chain{}
	for _, e := range entries {
		if e.Pattern == "" {
			return wire.Usagef("a hook needs a name")
		}
		if e.Answer.Kind == Inbox && t.o.Park == nil {
			return wire.Usagef("hook %s: inbox works only in a session", e.Pattern).WithHint("rpcx connect ENDPOINT --session NAME opens one")
		}
		c := seen[e.Pattern]
		if c == nil {
			c = &chain{pattern: e.Pattern}
			seen[e.Pattern] = c
			if stars := strings.Count(e.Pattern, "*"); stars > 0 {
				c.literal = utf8.RuneCountInString(e.Pattern) - stars
				set.patterns = append(set.patterns, c)
			} else {
				set.exact[e.Pattern] = c
				set.names = append(set.names, e.Pattern)
			}
		}
		c.answers = append(c.answers, &e.Answer)
	}
	slices.SortStableFunc(set.patterns, func(a, b *chain) int { return b.literal - a.literal })
	t.entries.Store(set)
	return nil
}
