package env

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport/httpclient"
)

// A Sniffer looks at the first bytes that a peer sends. They may show that the peer
// speaks another dialect or framing than its endpoint names: then the failure of the
// request says so, and suggests the right endpoint.
type Sniffer struct {
	run *Env
	e   endpoint.Endpoint
	cl  *Deadline

	mu      sync.Mutex
	first   []byte
	told    sync.Once     // for Unanswered, which tells once
	arrived chan struct{} // receives a value when more bytes came; has a buffer of one, so that Sniff never blocks
}

// NewSniffer returns a Sniffer for a request to e whose deadline is cl.
func NewSniffer(run *Env, e endpoint.Endpoint, cl *Deadline) *Sniffer {
	return &Sniffer{run: run, e: e, cl: cl, arrived: make(chan struct{}, 1)}
}

// AwaitMismatch waits until over for bytes that the peer sends before it is asked anything. If
// they show that it speaks another dialect, the error is the Protocol Fault that says so, and no
// request need be sent.
func (h *Sniffer) AwaitMismatch(over <-chan time.Time) error {
	for {
		h.mu.Lock()
		sig, sure := h.e.Recognize(h.first)
		said := len(h.first) > 0
		h.mu.Unlock()
		if said && sig != nil && (sure || sig.Dialect != "") {
			return h.mismatch(sig, wire.NewFault(wire.Protocol, "the peer has spoken first", nil))
		}
		select {
		case <-h.arrived:
		case <-over:
			return nil
		case <-h.cl.Ctx.Done():
			return nil // the next step fails with the reason
		}
	}
}

// Sniff looks at the bytes b, which follow those of earlier calls. If they can only belong to
// another framing it cancels the request, whose answer could never be read.
func (h *Sniffer) Sniff(b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.first = append(h.first, b[:min(len(b), maxSniffed)]...)
	select {
	case h.arrived <- struct{}{}:
	default:
	}
	if h.e.LooksExpected(h.first) {
		return
	}
	if sig, sure := h.e.Recognize(h.first); sig != nil && sure {
		line, _, _ := bytes.Cut(h.first, []byte("\n"))
		h.cl.Cancel(h.mismatch(sig, wire.NewFault(wire.Protocol, fmt.Sprintf("the peer sent invalid JSON: %.80q", bytes.TrimRight(line, "\r")), nil)))
	}
}

// maxSniffed is how many bytes of each piece that comes are kept.
const maxSniffed = 1 << 10

// explained are the kinds of failures that may show that the peer speaks otherwise.
var explained = []wire.FaultKind{wire.Protocol, wire.Timeout, wire.RPCError, wire.Closed, wire.Unreachable, wire.Auth}

// Explain adds to a failure which dialect, framing or transport the peer seems to speak, if its
// bytes or the failure itself show that.
func (h *Sniffer) Explain(err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Fix != nil || !slices.Contains(explained, f.Kind) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.e.Shown(h.first, f); c != nil {
		return h.mismatch(c, f)
	}
	if c, why := h.e.Alternative(f); c != nil && c.Rewrite(h.run.Line.Args[0]) != h.run.Line.Args[0] {
		return h.withAlternative(c, f, why)
	}
	hint := h.hint(f)
	if hint == "" || f.Hint != "" {
		return err
	}
	g := *f
	g.Hint = hint
	return &g
}

// hint returns what may help after a failure that shows nothing of what the peer speaks; "" if that is not known.
func (h *Sniffer) hint(f *wire.Fault) string {
	switch {
	case f.HTTP != nil && f.HTTP.Status == http.StatusUnauthorized:
		return "-H 'Authorization: Bearer …' or --token-command COMMAND says who asks"
	case (f.Kind == wire.Timeout || h.hungUp(f)) && len(h.first) == 0 && f.RPC == nil:
		return h.e.SilenceHint()
	}
	return ""
}

// Unanswered tells the user, once, that a POST has had no answer for a while, and which endpoint could be tried instead.
// The request goes on: the answer may still come.
func (h *Sniffer) Unanswered() {
	h.told.Do(func() {
		f := wire.NewFault(wire.Timeout, fmt.Sprintf("no response for %v, not even a status", httpclient.UnansweredAfter), nil)
		if sig := h.e.AsWebSocket(); sig != nil {
			f = h.withAlternative(sig, f, "a server of WebSockets may wait for an upgrade")
		}
		h.run.Console.Event(wire.Event{Kind: wire.Guidance, Message: f.Message, Action: f.Hint, Fix: f.Fix})
	})
}

// hungUp reports whether f says that the peer closed a byte stream. A child process is left out: its exit status
// says why it ended.
func (h *Sniffer) hungUp(f *wire.Fault) bool {
	return f.Close != nil && f.Close.Child == nil && h.e.IsBytes()
}

// A Mismatch is the cause of a failure whose peer was found to speak another dialect, framing or transport.
type Mismatch struct {
	Better string // the endpoint with the right dialect or framing
	err    error
}

// Error says what failed.
func (s *Mismatch) Error() string {
	if s.err == nil {
		return "it speaks otherwise"
	}
	return s.err.Error()
}

// Unwrap returns the cause without it.
func (s *Mismatch) Unwrap() error { return s.err }

// mismatch returns f with a Mismatch as its cause, and the command with the endpoint that c names as its fix.
func (h *Sniffer) mismatch(c *endpoint.Change, f *wire.Fault) *wire.Fault {
	g := h.withAlternative(c, f, "it shows that it speaks "+c.Prefix())
	g.Err = &Mismatch{c.Rewrite(h.run.Line.Args[0]), g.Err}
	return g
}

// withAlternative returns f with a fix, the command line with the endpoint that c names, and why as its hint.
func (h *Sniffer) withAlternative(c *endpoint.Change, f *wire.Fault, why string) *wire.Fault {
	g := *f
	typed := h.run.Line.Args[0]
	better := c.Rewrite(typed)
	g.Hint = why
	if strings.HasPrefix(typed, "@") || h.run.Line.Has("dialect") && c.Dialect != "" {
		return &g
	}
	g.Fix = h.run.Line.WithArgs(append([]string{better}, h.run.Line.Args[1:]...))
	return &g
}
