package env

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpclient"
)

// A Sniffer detects from a peer's first bytes that the peer uses another dialect or framing than the endpoint names. The
// error of the request then has the correct endpoint as its fix.
type Sniffer struct {
	run     *Env
	e       endpoint.Endpoint
	cl      *Deadline
	applies func(e endpoint.Endpoint, flag string) bool

	mu      sync.Mutex
	first   []byte
	warned  sync.Once     // for Unanswered, which warns once
	stage   stage         // the stage of the request
	waited  func()        // removes the notice about the stage
	arrived chan struct{} // receives a value after more bytes; its buffer of one keeps Sniff from blocking
}

// NewSniffer returns a Sniffer for a request to e with the deadline cl. applies reports whether a flag has an effect for an
// endpoint.
func NewSniffer(run *Env, e endpoint.Endpoint, cl *Deadline, applies func(e endpoint.Endpoint, flag string) bool) *Sniffer {
	return &Sniffer{run: run, e: e, cl: cl, applies: applies, waited: func() {}, arrived: make(chan struct{}, 1)}
}

// AwaitMismatch waits until over for bytes that the peer sends first. If they belong to another dialect, it returns a
// Protocol Fault, and no request is needed.
func (h *Sniffer) AwaitMismatch(over <-chan time.Time) error {
	for {
		h.mu.Lock()
		sig, sure := h.e.Recognize(h.first)
		received := len(h.first) > 0
		h.mu.Unlock()
		if received && sig != nil && (sure || sig.Dialect != "") {
			return h.mismatch(sig, wire.NewFault(wire.Protocol, "the peer sent a message first", nil))
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

// Sniff adds the bytes b to the bytes of earlier calls. If they can only belong to another framing, it cancels the
// request, whose response rpcx could never read.
func (h *Sniffer) Sniff(b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.first = append(h.first, b[:min(len(b), maxSniffed)]...)
	wire.Wake(h.arrived)
	if h.e.LooksExpected(h.first) {
		return
	}
	if sig, sure := h.e.Recognize(h.first); sig != nil && sure {
		line, _, _ := bytes.Cut(h.first, []byte("\n"))
		h.cl.Cancel(h.mismatch(sig, wire.NewFault(wire.Protocol, fmt.Sprintf("the peer sent invalid JSON: %.80q", bytes.TrimRight(line, "\r")), nil)))
	}
}

// maxSniffed bounds the stored bytes of each call of Sniff.
const maxSniffed = 1 << 10

// explained lists the kinds of failures that a wrong dialect, framing or transport can cause.
var explained = []wire.FaultKind{wire.Protocol, wire.Timeout, wire.RPCError, wire.Closed, wire.Unreachable, wire.Auth}

// Explain adds the peer's likely dialect, framing or transport to a failure, if the first bytes or the failure reveal
// it.
func (h *Sniffer) Explain(err error) error {
	f := cmdline.Worst(err) // err may also contain the errors of closing the connection and of a hook
	if err == nil || f.Fix != nil || !slices.Contains(explained, f.Kind) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.e.Shown(h.first, f); c != nil {
		return h.mismatch(c, f)
	}
	if fix := h.loginFix(f); fix != nil {
		return f.WithFix(f.Hint, fix)
	}
	if g := h.unfinished(f); g != f {
		err, f = g, g
	}
	if c := h.e.Secure(); c != nil && h.speaksTLS(f) {
		return h.withAlternative(c, f, "the server answers a TLS handshake")
	}
	return h.explainOtherwise(err, f)
}

// explainOtherwise adds to err, which contains f, the endpoint that f suggests, or a hint.
func (h *Sniffer) explainOtherwise(err error, f *wire.Fault) error {
	hint := ""
	switch c, why := h.e.Alternative(f); {
	case c == nil || c.Rewrite(h.run.Line.Args[0]) == h.run.Line.Args[0]:
		hint = h.hint(f)
	case h.e.Exposes(c, h.run.Opened.Transport):
	case h.e.IsProven(f) || h.tested(c):
		return h.withAlternative(c, f, why)
	default:
		hint = h.probing("it may be " + c.Prefix())
	}
	if hint == "" || f.Hint != "" {
		return err
	}
	return f.WithHint(hint)
}

// testTimeout bounds the test of an endpoint that a failure suggests.
const testTimeout = 700 * time.Millisecond

// testContext returns the context of such a test. The test may run after the command's timeout.
func (h *Sniffer) testContext() (context.Context, context.CancelFunc) {
	ctx := cmp.Or(h.run.Signal, context.Background())
	return context.WithTimeout(ctx, testTimeout)
}

// speaksTLS reports whether a server that has sent nothing without TLS completes a TLS handshake.
func (h *Sniffer) speaksTLS(f *wire.Fault) bool {
	closed := f.Kind == wire.Closed && h.e.IsBytes() || strings.HasSuffix(f.Message, transport.NoResponse) || strings.Contains(f.Message, `malformed HTTP response "\x15`)
	if !closed || len(h.first) > 0 || f.RPC != nil || f.HTTP != nil || transport.OfProxy(f) || h.run.Line.Has("proxy") || h.run.Line.Has("resolve") {
		return false
	}
	ctx, cancel := h.testContext()
	defer cancel()
	at := h.e.Address.Host
	if h.e.Address.Scheme != "tcp" {
		at = transport.HostPort(&url.URL{Scheme: "http", Host: at})
	}
	return transport.SpeaksTLS(ctx, at)
}

// tested reports whether the peer responds at the endpoint of c: it accepts the WebSocket upgrade or the handshake, or
// responds to rpc.discover. tested does not start commands again; for a command, the text of the error decides.
func (h *Sniffer) tested(c *endpoint.Change) bool {
	e, err := session.ParseEndpoint(c.Rewrite(h.run.Line.Args[0]), "")
	if err != nil || len(e.Address.Command) > 0 {
		return err == nil && c.Dialect != ""
	}
	ctx, cancel := h.testContext()
	defer cancel()
	o := h.run.Opened
	o.Record, o.First, o.Reached, o.Reconnect = nil, nil, nil, nil
	o.Transport.First, o.Transport.Unanswered = nil, nil
	conv, err := session.Open(ctx, e, o)
	if err != nil {
		return false
	}
	defer func() { _ = conv.Close() }()
	if e.Address.WebSocket() || c.Dialect != "" {
		return true
	}
	st, err := conv.Open(ctx, dialect.Op{Kind: dialect.Call, Method: "rpc.discover"})
	if err != nil {
		return false
	}
	_, err = st.Next(ctx)
	return err == nil
}

// probing adds the command that detects the dialect to a hint.
func (h *Sniffer) probing(hint string) string {
	words := h.run.Line.ForCommand("describe", h.run.Line.Args[:1], "--probe")
	if words == nil || strings.HasPrefix(h.run.Line.Args[0], "@") || slices.Equal(h.run.Line.Path, []string{"describe"}) && h.run.Line.Has("probe") {
		return hint
	}
	return hint + "; detect it with " + format.QuoteAll(words)
}

// hint returns a hint for a failure that does not reveal the peer's dialect, or "".
func (h *Sniffer) hint(f *wire.Fault) string {
	switch {
	case f.HTTP != nil && f.HTTP.Status == http.StatusUnauthorized:
		return credentials(f.HTTP.Challenge)
	case f.RPC != nil && strings.HasPrefix(f.RPC.Message, "rpc: can't find service ") && h.e.Dialect == all.Default():
		return h.probing("it may be a Go net/rpc server, whose methods are named Service.Method")
	case h.stage == connecting || h.stage == afterHandshake && h.e.Spec().Handshake.ServerFirst: // the failure is not that of a response
	case (f.Kind == wire.Timeout || h.closedByPeer(f)) && len(h.first) == 0 && !h.cl.received.Load() && f.RPC == nil:
		return h.silenceHint()
	}
	return ""
}

// silenceHint returns a possible reason why nothing has arrived, or "".
func (h *Sniffer) silenceHint() string {
	if h.renewsLogin() {
		return "rpcx was waiting for the authorization server to renew the login"
	}
	if hint := h.e.SilenceHint(); hint != "" {
		return h.probing(hint)
	}
	return ""
}

// credentials returns a hint about sending credentials in the server's scheme.
func credentials(challenge string) string {
	switch scheme := strings.ToLower(challenge); scheme {
	case "basic":
		return "the server requires Basic authentication: send credentials with http://USER:PASSWORD@HOST/ or -H @FILE"
	case "bearer", "":
		return "send credentials with -H 'Authorization: Bearer …' or --token-command COMMAND"
	default:
		return "the server requires " + format.CleanLine(challenge) + ", which rpcx does not support: send credentials with -H @FILE"
	}
}

// Unanswered warns once about a POST without a response, and names an endpoint to try. The request continues, because
// the response may still arrive.
func (h *Sniffer) Unanswered() {
	h.warned.Do(func() {
		message := fmt.Sprintf("no response for %v, not even an HTTP status", httpclient.UnansweredAfter)
		h.run.Console.Guidance(wire.Event{Kind: wire.Guidance, Message: message, Action: h.probing("it may be a WebSocket server")})
	})
}

// closedByPeer reports whether the peer closed a byte stream. It excludes a child, whose exit status explains the end.
func (h *Sniffer) closedByPeer(f *wire.Fault) bool {
	return f.Close != nil && f.Close.Child == nil && h.e.IsBytes()
}

// A Mismatch is the cause of a failure: the peer uses another dialect, framing or transport.
type Mismatch struct {
	Better string // the endpoint with the correct dialect or framing
	err    error
}

// Error returns the failure's message.
func (s *Mismatch) Error() string {
	if s.err == nil {
		return "the peer uses another protocol"
	}
	return s.err.Error()
}

// Unwrap returns the original cause.
func (s *Mismatch) Unwrap() error { return s.err }

// mismatch returns f with a Mismatch as its cause and the command for the endpoint of c as its fix.
func (h *Sniffer) mismatch(c *endpoint.Change, f *wire.Fault) *wire.Fault {
	g := h.withAlternative(c, f, "the peer uses "+c.Prefix())
	g.Err = &Mismatch{c.Rewrite(h.run.Line.Args[0]), g.Err}
	return g
}

// withAlternative returns f with the command for the endpoint of c as its fix and why as its hint. The command omits flags
// that do not apply to that endpoint.
func (h *Sniffer) withAlternative(c *endpoint.Change, f *wire.Fault, why string) *wire.Fault {
	typed := h.run.Line.Args[0]
	if strings.HasPrefix(typed, "@") || h.run.Line.Has("dialect") && c.Dialect != "" {
		return f.WithHint(why)
	}
	better, line := c.Rewrite(typed), *h.run.Line
	if e, err := session.ParseEndpoint(better, line.Last("dialect")); err == nil {
		line.Flags = slices.DeleteFunc(slices.Clone(line.Flags), func(given string) bool {
			flag, _ := cmdline.SplitFlag(given)
			return !h.applies(e, flag)
		})
	}
	return f.WithFix(why, line.WithArgs(append([]string{better}, line.Args[1:]...)))
}
