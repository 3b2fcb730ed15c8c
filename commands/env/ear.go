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
	"rpcx/wire/transport"
)

// An Ear looks at the first bytes of a peer, which may show that it speaks
// otherwise than its endpoint says.
type Ear struct {
	run *Env
	e   endpoint.Endpoint
	cl  *Deadline

	mu    sync.Mutex
	first []byte
	told  sync.Once     // that nothing comes
	heard chan struct{} // gets a value when there are more; of its own size, so that Hear does not wait
}

// NewEar returns an Ear for a request to e that cl bounds.
func NewEar(run *Env, e endpoint.Endpoint, cl *Deadline) *Ear {
	return &Ear{run: run, e: e, cl: cl, heard: make(chan struct{}, 1)}
}

// Listen waits, until over, for what the peer says unasked. If that shows that the peer
// speaks another dialect it returns the fault that says so: nothing need be sent.
func (h *Ear) Listen(over <-chan time.Time) error {
	for {
		h.mu.Lock()
		sign, sure := h.e.Shown(h.first)
		said := len(h.first) > 0
		h.mu.Unlock()
		if said && sign != nil && (sure || sign.Dialect != "") {
			return h.shown(sign, wire.NewFault(wire.Protocol, "the peer has spoken first", nil))
		}
		select {
		case <-h.heard:
		case <-over:
			return nil
		case <-h.cl.Ctx.Done():
			return nil // what is done next says why
		}
	}
}

// Hear looks at the first bytes. If they can only be another framing it ends
// the request, which would wait in vain.
func (h *Ear) Hear(b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.first = append(h.first, b[:min(len(b), firstHeard)]...)
	select {
	case h.heard <- struct{}{}:
	default:
	}
	if h.e.Usual(h.first) {
		return
	}
	if sign, sure := h.e.Shown(h.first); sign != nil && sure {
		line, _, _ := bytes.Cut(h.first, []byte("\n"))
		h.cl.Cancel(h.shown(sign, wire.NewFault(wire.Protocol, fmt.Sprintf("the far side sent what is not JSON: %.80q", bytes.TrimRight(line, "\r")), nil)))
	}
}

// firstHeard bounds the bytes of each piece that are kept.
const firstHeard = 1 << 10

// Explain adds to a failure how the peer speaks, if it has shown that.
func (h *Ear) Explain(err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Fix != nil || !slices.Contains([]wire.FaultKind{wire.Protocol, wire.Timeout, wire.RPCError, wire.Closed, wire.Unreachable, wire.Auth}, f.Kind) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	sign, _ := h.e.Shown(h.first)
	if sign == nil && f.RPC != nil {
		if sign, _ = h.e.Shown(f.RPC.JSON()); sign != nil && sign.Dialect == "" {
			sign = nil // an answer came, so the framing is right
		}
	}
	if sign != nil {
		return h.shown(sign, f)
	}
	if sign, why := h.e.Otherwise(f); sign != nil && sign.Respelt(h.run.Line.Args[0]) != h.run.Line.Args[0] {
		return h.proposed(sign, f, why)
	}
	if f.HTTP != nil && f.HTTP.Status == http.StatusUnauthorized && f.Hint == "" {
		g := *f
		g.Hint = "-H 'Authorization: Bearer …' or --token-command COMMAND says who asks"
		return &g
	}
	if (f.Kind == wire.Timeout || h.hungUp(f)) && len(h.first) == 0 && f.Hint == "" && f.RPC == nil {
		g := *f
		g.Hint = h.e.Silence()
		return &g
	}
	return err
}

// Unanswered tells, once, that a POST has had no answer for a while, and what else can be tried. It may still come.
func (h *Ear) Unanswered() {
	h.told.Do(func() {
		f := wire.NewFault(wire.Timeout, fmt.Sprintf("no answer has come for %v, not even a status", transport.UnansweredAfter), nil)
		if sign := h.e.Raised(); sign != nil {
			f = h.proposed(sign, f, "a server of WebSockets may wait for an upgrade")
		}
		h.run.Console.Event(wire.Event{Kind: wire.Guidance, Message: f.Message, Action: f.Hint, Fix: f.Fix})
	})
}

// hungUp reports whether f says that the peer ended a stream of bytes. A child tells of its own end why.
func (h *Ear) hungUp(f *wire.Fault) bool {
	return f.Close != nil && f.Close.Child == nil && h.e.IsBytes()
}

// A Shown is the cause of a failure of a peer that has shown how it speaks.
type Shown struct {
	Better string // the endpoint with the right dialect or framing
	err    error
}

// Error says what failed.
func (s *Shown) Error() string {
	if s.err == nil {
		return "it speaks otherwise"
	}
	return s.err.Error()
}

// Unwrap returns the cause without it.
func (s *Shown) Unwrap() error { return s.err }

// shown returns f with a command whose endpoint says what sign shows.
func (h *Ear) shown(sign *endpoint.Sign, f *wire.Fault) *wire.Fault {
	g := h.proposed(sign, f, "it shows that it speaks "+sign.Prefix())
	g.Err = &Shown{sign.Respelt(h.run.Line.Args[0]), g.Err}
	return g
}

// proposed returns f with the command whose endpoint is as sign says, and why it may work.
func (h *Ear) proposed(sign *endpoint.Sign, f *wire.Fault, why string) *wire.Fault {
	g := *f
	typed := h.run.Line.Args[0]
	better := sign.Respelt(typed)
	g.Hint = why
	if strings.HasPrefix(typed, "@") || h.run.Line.Has("dialect") && sign.Dialect != "" {
		return &g
	}
	g.Fix = h.run.Line.WithArgs(append([]string{better}, h.run.Line.Args[1:]...))
	return &g
}
