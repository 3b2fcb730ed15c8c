package finding

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport"
)

// A Prober finds out what the peer at an endpoint speaks, by trying.
type Prober struct {
	Endpoint  endpoint.Endpoint // its dialect and its framing are tried first, and not believed
	Typed     string            // Endpoint, as the user wrote it
	Method    string            // that is to be described; "" means all are
	Transport transport.Config
	// Resolve asks an HTTP server where a conversation of the endpoint's dialect is held; false means it does not tell.
	Resolve func(ctx context.Context, e endpoint.Endpoint) (endpoint.Endpoint, bool)

	all     []*step
	guessed bool // that the peer requires TLS, so a failure of that shows nothing
	mu      sync.Mutex
	report  *Report
}

// Run tries until the peer is recognised, all has been tried or ctx is over.
func (p *Prober) Run(ctx context.Context) *Report {
	p.all, p.report = steps(true, p.Method), &Report{}
	e := p.Endpoint
	for range 3 { // over another transport, if the peer shows which
		r := p.report
		n := len(r.Tried)
		p.over(ctx, e)
		if f := faultOf(r.Tried[n:]); n == 0 || f == nil || !p.guessed || isCertificate(f) {
			r.Fault = f
		}
		if r.Endpoint != nil || ctx.Err() != nil {
			break
		}
		c := p.change(e)
		if c == nil {
			break
		}
		typed := c.Rewrite(p.Typed)
		other, err := endpoint.Parse(typed, "")
		if err != nil || slices.ContainsFunc(r.Tried, func(t *Try) bool { return t.Endpoint == other.String() }) {
			break
		}
		p.Typed, e = typed, other
	}
	r := p.report
	r.Tried = slices.DeleteFunc(r.Tried, (*Try).unused)
	return r
}

// over tries all over the transport of e.
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

// resolve asks an HTTP server, by GET, where conversations are held: in the dialects whose servers tell that.
func (p *Prober) resolve(ctx context.Context, e endpoint.Endpoint) bool {
	if p.Resolve == nil {
		return false
	}
	for _, name := range all.Names() {
		if e.Dialect = name; e.Spec().Transport.Resolve == nil {
			continue
		}
		t := p.try(e)
		t.Sent, t.got = []string{name}, true
		if at, ok := p.Resolve(ctx, e); ok {
			t.Outcome = name
			p.report.Endpoint, p.report.At = &e, &at
			return true
		}
		t.Outcome = "not recognised"
	}
	return false
}

// attempt returns an attempt over the transport of e in that framing, which makes at most so many connections.
func (p *Prober) attempt(e endpoint.Endpoint, framing string, dials int, pace paces) *attempt {
	e.Framing, e.Dialect = framing, all.Default()
	list := slices.Clone(p.all)
	slices.SortStableFunc(list, func(a, b *step) int {
		return first(a, p.Endpoint.Dialect, framing) - first(b, p.Endpoint.Dialect, framing)
	})
	return &attempt{p: p, at: e, steps: list, try: p.try(e), paces: pace, dials: dials, framed: func() {}}
}

// first orders the steps of one rank: the dialect that the user named comes first, then those whose own framing this is.
func first(s *step, named, framing string) int {
	n := s.rank() * 4
	switch {
	case s.dialect != "" && s.dialect == named:
		return n
	case s.framing == framing || s.framing == "concat" && framing == "line":
		return n + 1
	}
	return n + 2
}

// try adds an attempt to the report.
func (p *Prober) try(e endpoint.Endpoint) *Try {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &Try{Endpoint: e.String(), Sent: []string{}}
	p.report.Tried = append(p.report.Tried, t)
	return t
}

// settle takes a verdict on the peer of e for the report; false if there is none.
func (p *Prober) settle(e endpoint.Endpoint, v *verdict) bool {
	if v == nil {
		return false
	}
	e.Dialect, e.Framing = v.dialect, v.framing
	if own := all.Named(v.dialect).Transport.Framing; v.framing == own || v.framing == "line" && (own == "" || own == "concat") {
		e.Framing = "" // concat reads lines as well
	}
	p.report.Endpoint, p.report.Weak, p.report.Catalog = &e, v.weak, v.catalog
	if v.catalog != nil {
		v.catalog.Dialect = v.dialect
	}
	return true
}

// framings returns the framings that are tried over a stream of bytes, that of e first. What reads lines reads concat.
func framings(e endpoint.Endpoint) []string {
	names := []string{"line", "header", "nul", "netstring", "varint", "seq"}
	own := e.FramingName()
	if i := slices.Index(names, own); i > 0 {
		names = append([]string{own}, slices.Delete(names, i, i+1)...)
	}
	return names
}

// change returns the other transport that the attempts over that of e have shown, or nil if there is none.
func (p *Prober) change(e endpoint.Endpoint) *endpoint.Change {
	plain := e
	plain.Dialect, plain.Framing = all.Default(), ""
	for _, t := range p.report.Tried {
		if c, _ := plain.Recognize(t.heard); c != nil && c.Scheme != "" {
			return c
		}
		if t.fault != nil {
			if c, _ := plain.Alternative(t.fault); c != nil && c.Scheme != "" {
				return c
			}
		}
	}
	if slices.ContainsFunc(p.report.Tried, func(t *Try) bool { return len(t.heard) > 0 || !t.closed }) {
		return nil
	}
	p.guessed = true
	return plain.Secure() // it closed every connection without a word
}

// isCertificate reports whether f says that a peer's certificate is not accepted.
func isCertificate(f *wire.Fault) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](f)
	return ok
}

// faultOf returns why the peer was not reached, if none of the attempts reached it.
func faultOf(tried []*Try) (f *wire.Fault) {
	for _, t := range tried {
		switch {
		case t.got || t.unused():
		case t.fault == nil || len(t.heard) > 0:
			return nil
		case f == nil || t.fault.Kind == wire.Auth:
			f = t.fault
		}
	}
	return f
}

// listens is how long a peer may speak first, before it is sent anything: a greeting shows what it speaks.
const listens = 300 * time.Millisecond
