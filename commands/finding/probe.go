package finding

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// A Prober detects the protocol of a peer with trial messages.
type Prober struct {
	Endpoint endpoint.Endpoint // its dialect and framing are tried first, but not trusted
	Typed    string            // Endpoint as typed by the user
	Method   string            // the method to describe, or "" for all
	Session  session.Options

	all     []*step
	guesses []string // the endpoints to try if the peer closes every connection without sending data
	guessed bool     // the current endpoint is a guess, whose failure proves nothing about the peer
	mu      sync.Mutex
	report  *Report
}

// Run makes attempts until it has detected the peer's protocol, has tried everything, or ctx ends.
func (p *Prober) Run(ctx context.Context) *Report {
	p.all, p.report = steps(true, p.Method), &Report{}
	e := p.Endpoint
	if e.Address.Scheme == "tcp" {
		p.guesses = append(p.guesses, (&endpoint.Change{Scheme: "http"}).Rewrite(p.Typed))
	}
	if c := e.Secure(); c != nil {
		p.guesses = append(p.guesses, c.Rewrite(p.Typed))
	}
	for range 4 { // each further round uses another transport that the peer has revealed
		r := p.report
		n := len(r.Tried)
		p.over(ctx, e)
		if f := faultOf(r.Tried[n:]); n == 0 || f == nil || !p.guessed || isCertificate(f) {
			r.Fault = f
		}
		if r.Endpoint != nil || ctx.Err() != nil {
			break
		}
		typed := p.change(e)
		other, err := endpoint.Parse(typed, "")
		if typed == "" || err != nil || slices.ContainsFunc(r.Tried, func(t *Try) bool { return t.Endpoint == other.String() }) {
			break
		}
		p.Typed, e = typed, other
	}
	r := p.report
	r.Tried = slices.DeleteFunc(r.Tried, (*Try).unused)
	return r
}

// over makes all attempts over e's transport.
func (p *Prober) over(ctx context.Context, e endpoint.Endpoint) {
	switch {
	case len(e.Address.Command) > 0 && e.IsBytes():
		p.children(ctx, e)
	case e.IsBytes():
		p.streams(ctx, e)
	default:
		p.messages(ctx, e)
	}
}

// resolve sends GET requests to an HTTP server for the URL of conversations, in the dialects whose servers state one.
func (p *Prober) resolve(ctx context.Context, e endpoint.Endpoint) bool {
	for _, name := range all.Names() {
		if e.Dialect = name; e.Spec().Transport.Resolve == nil {
			continue
		}
		t := p.try(e)
		t.Sent, t.got = []string{name}, true
		within, cancel := context.WithTimeout(ctx, time.Second)
		at, ok := session.ResolvedEndpoint(within, e, p.Session)
		cancel()
		if ok {
			t.Outcome = name
			p.report.Endpoint, p.report.At = &e, &at
			return true
		}
		t.Outcome = "not recognised"
	}
	return false
}

// attempt returns an attempt over e's transport in a framing, with a limit on connections.
func (p *Prober) attempt(e endpoint.Endpoint, framing string, dials int, pace paces) *attempt {
	e.Framing, e.Dialect = framing, all.Default()
	list := slices.SortedStableFunc(slices.Values(p.all), func(a, b *step) int {
		return first(a, p.Endpoint.Dialect, framing) - first(b, p.Endpoint.Dialect, framing)
	})
	return &attempt{p: p, at: e, steps: list, try: p.try(e), paces: pace, dials: dials, framed: func() {}}
}

// first returns the position of s: steps are sorted by rank, and within a rank the user's dialect precedes the dialects with
// this framing, and these precede the others.
func first(s *step, named, framing string) int {
	n, own := s.rank()*4, cmp.Or(s.spec.Transport.Framing, "line")
	switch {
	case s.spec.Name == named:
		return n
	case own == framing || own == "concat" && framing == "line":
		return n + 1
	}
	return n + 2
}

func (p *Prober) try(e endpoint.Endpoint) *Try {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &Try{Endpoint: e.String(), Sent: []string{}}
	p.report.Tried = append(p.report.Tried, t)
	return t
}

// settle adds a verdict about the peer of e to the report. It returns false if v is nil.
func (p *Prober) settle(e endpoint.Endpoint, v *verdict) bool {
	if v == nil {
		return false
	}
	e.Dialect, e.Framing = v.dialect, v.framing
	if own := all.Named(v.dialect).Transport.Framing; v.framing == own || v.framing == "line" && (own == "" || own == "concat") {
		e.Framing = "" // concat also reads lines
	}
	p.report.Endpoint, p.report.Weak, p.report.Catalog, p.report.Header = &e, v.weak, v.catalog, v.header
	if v.catalog != nil {
		v.catalog.Dialect = v.dialect
	}
	return true
}

// framings returns the framings to try over a byte stream, starting with e's. It omits concat, which also reads lines.
func framings(e endpoint.Endpoint) []string {
	names := []string{"line", "header", "nul", "netstring", "varint", "seq"}
	own := e.FramingName()
	if i := slices.Index(names, own); i > 0 {
		names = append([]string{own}, slices.Delete(names, i, i+1)...)
	}
	return names
}

// change returns the typed endpoint with the other transport that the attempts on e have revealed, or the next guess, or "".
func (p *Prober) change(e endpoint.Endpoint) string {
	plain := e
	plain.Dialect, plain.Framing = all.Default(), ""
	for _, t := range p.report.Tried {
		if c, _ := plain.Recognize(t.received); c != nil && c.Scheme != "" {
			return c.Rewrite(p.Typed)
		}
		if t.fault != nil {
			if c := plain.Refused(t.fault); c != nil && !e.Exposes(c, p.Session.Transport) {
				return c.Rewrite(p.Typed)
			}
		}
	}
	if len(p.guesses) == 0 || slices.ContainsFunc(p.report.Tried, func(t *Try) bool { return len(t.received) > 0 || !t.closed && !t.got }) {
		return ""
	}
	next := p.guesses[0]
	p.guesses, p.guessed = p.guesses[1:], true
	return next
}

// isCertificate reports whether f is about a peer's untrusted certificate.
func isCertificate(f *wire.Fault) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](f)
	return ok
}

// faultOf returns why no attempt reached the peer, or nil.
func faultOf(tried []*Try) (f *wire.Fault) {
	for _, t := range tried {
		switch {
		case t.got || t.unused():
		case t.fault == nil || len(t.received) > 0:
			return nil
		case f == nil || t.fault.Kind == wire.Auth:
			f = t.fault
		}
	}
	return f
}

// listenTime bounds how long a peer may take to send first. Its handshake reveals the dialect.
const listenTime = 300 * time.Millisecond
