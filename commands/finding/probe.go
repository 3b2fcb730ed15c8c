package finding

import (
	"context"
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
	Transport transport.Config
	// Resolve asks an HTTP server where a conversation of the endpoint's dialect is held; false: it does not tell.
	Resolve func(ctx context.Context, e endpoint.Endpoint) (endpoint.Endpoint, bool)

	all    []*step
	mu     sync.Mutex
	report *Report
}

// maxStarts bounds how often the user's command is started; once more it is for its catalog.
const maxStarts = 5

// Run tries until the peer is recognised, all has been tried or ctx is over.
func (p *Prober) Run(ctx context.Context) *Report {
	p.all, p.report = steps(true), &Report{}
	e := p.Endpoint
	for range 3 { // over another transport, if the peer shows which
		r := p.report
		n := len(r.Tried)
		p.over(ctx, e)
		r.Fault = faultOf(r.Tried[n:])
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
	r.Tried = slices.DeleteFunc(r.Tried, func(t *Try) bool { return len(t.Sent) == 0 && len(t.heard) == 0 && r.Fault == nil })
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

// children starts the command of e once for each framing, one after another.
func (p *Prober) children(ctx context.Context, e endpoint.Endpoint) {
	end, _ := ctx.Deadline()
	names := framings(e)
	for i := 0; i < min(len(names), maxStarts); i++ {
		rest := time.Until(end)
		share := rest / 3
		if i > 1 {
			share = rest / time.Duration(maxStarts+1-i)
		}
		within, cancel := context.WithTimeout(ctx, share)
		a := p.attempt(e, names[i], 1, paces{listen: listens, first: share / 3, next: share / 30})
		v := a.run(within)
		cancel()
		if p.settle(e, v) || ctx.Err() != nil || a.try.fault != nil && a.try.fault.Kind != wire.Closed && a.try.fault.Kind != wire.Protocol {
			return
		}
		if other, _ := unframed(a.try.heard, p.Transport.NoiseLimit); a.foreign && slices.Contains(names[i+1:], other) { // which it has shown
			names = append(names[:i+1:i+1], other)
		}
	}
}

// streams tries all framings over connections side by side. The first connection, on which the peer may speak first, is
// then used for header: servers that serve one client alone mostly have that.
func (p *Prober) streams(ctx context.Context, e endpoint.Endpoint) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	names := framings(e)
	if i := slices.Index(names, "header"); e.Framing == "" {
		names[0], names[i] = names[i], names[0]
	}
	listened := make(chan struct{})
	results := make(chan *verdict)
	within, stops := make([]context.Context, len(names)), make([]context.CancelFunc, len(names))
	for i := range names {
		within[i], stops[i] = context.WithCancel(ctx)
		defer stops[i]()
	}
	for i, name := range names {
		a := p.attempt(e, name, maxDials, paces{listen: listens, first: 700 * time.Millisecond, next: 200 * time.Millisecond})
		a.framed = func() { // a peer answers in one framing alone
			for k, stop := range stops {
				if k != i {
					stop()
				}
			}
		}
		if i == 0 {
			a.listened = func() { close(listened) }
		}
		go func() {
			if i > 0 {
				select {
				case <-listened:
				case <-within[i].Done():
				}
			}
			results <- a.run(within[i])
		}()
	}
	var best *verdict
	for range names {
		if v := <-results; better(v, best) {
			best = v
		}
		if best != nil && !best.weak {
			cancel()
		}
	}
	if best == nil && ctx.Err() == nil {
		best = p.oneByOne(ctx, e, names[1:])
	}
	p.settle(e, best)
}

// oneByOne tries framings over one connection after another: the server may serve one client at a time.
func (p *Prober) oneByOne(ctx context.Context, e endpoint.Endpoint, names []string) *verdict {
	end, _ := ctx.Deadline()
	for i, name := range names {
		share := time.Until(end) / time.Duration(len(names)-i)
		within, cancel := context.WithTimeout(ctx, share)
		v := p.attempt(e, name, 2, paces{first: share / 3, next: share / 30}).run(within)
		cancel()
		if v != nil {
			return v
		}
	}
	return nil
}

// better reports whether v says more than best; either may be nil.
func better(v, best *verdict) bool {
	return v != nil && (best == nil || best.weak && !v.weak || best.weak && best.catalog == nil && v.catalog != nil)
}

// maxDials bounds the connections of one attempt: some servers close them after each message that they do not know.
const maxDials = 12

// messages tries a transport that has its own framing: all on one connection, beside it what needs subprotocols of its
// own, and what an HTTP server tells of where conversations are held.
func (p *Prober) messages(ctx context.Context, e endpoint.Endpoint) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	patience := paces{listen: listens, first: 700 * time.Millisecond, next: 300 * time.Millisecond}
	if e.Address.IsHTTP() {
		patience = paces{first: 2 * time.Second, next: 2 * time.Second}
	}
	attempts := []*attempt{p.attempt(e, "", 64, patience)}
	if !e.Address.IsHTTP() {
		attempts[0].listened = func() {}
		for _, s := range p.all {
			if len(s.offers) > 0 {
				a := p.attempt(e, "", 1, patience)
				a.steps, a.offers = []*step{s}, s.offers
				attempts = append(attempts, a)
			}
		}
	}
	results := make(chan *verdict)
	for _, a := range attempts {
		go func() { results <- a.run(ctx) }()
	}
	var best *verdict
	for range attempts {
		if v := <-results; better(v, best) {
			best = v
		}
		if best != nil && !best.weak {
			cancel()
		}
	}
	if best == nil && e.Address.IsHTTP() && ctx.Err() == nil && p.resolve(ctx, e) {
		return
	}
	p.settle(e, best)
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
	if own := (all.Named(v.dialect)).Transport.Framing; v.framing == own || v.framing == "line" && (own == "" || own == "concat") {
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

// change returns the other transport that the attempts over that of e have shown; nil: none.
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
	return nil
}

// faultOf returns why the peer was not reached, if none of the attempts reached it.
func faultOf(tried []*Try) (f *wire.Fault) {
	for _, t := range tried {
		switch {
		case t.got:
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
