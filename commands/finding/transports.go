package finding

import (
	"context"
	"slices"
	"time"

	"rpcx/wire"
	"rpcx/wire/endpoint"
)

// maxStarts bounds how often the user's command is started; once more it is for its catalog.
const maxStarts = 5

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
		within, cancel := context.WithCancelCause(ctx)
		over := time.AfterFunc(share, func() { cancel(context.DeadlineExceeded) })
		a := p.attempt(e, names[i], 1, paces{listen: listens, first: share / 3, next: share / 30})
		a.framed = func() { over.Stop() } // no other framing is tried
		v := a.run(within)
		over.Stop()
		cancel(nil)
		if p.settle(e, v) || ctx.Err() != nil || a.try.fault != nil && a.try.fault.Kind != wire.Closed && a.try.fault.Kind != wire.Protocol {
			return
		}
		if other, _ := unframed(a.link.heard, p.Transport.NoiseLimit); a.foreign && slices.Contains(names[i+1:], other) { // which it has shown
			names = append(names[:i+1:i+1], other)
		}
	}
}

// streams tries all framings over connections side by side. The first connection, on which the peer may speak first, is
// then used for the framing that e names, else for header: servers that serve one client alone mostly have that.
func (p *Prober) streams(ctx context.Context, e endpoint.Endpoint) {
	names := framings(e)
	if i := slices.Index(names, "header"); e.Framing == "" {
		names[0], names[i] = names[i], names[0]
	}
	attempts := make([]*attempt, len(names))
	for i, name := range names {
		attempts[i] = p.attempt(e, name, maxDials, paces{listen: listens, first: 700 * time.Millisecond, next: 200 * time.Millisecond})
	}
	listened := make(chan struct{})
	attempts[0].listened = func() { close(listened) }
	best := sideBySide(ctx, attempts, listened)
	if best == nil && ctx.Err() == nil && faultOf(p.report.Tried) == nil {
		best = p.oneByOne(ctx, e, names[1:])
	}
	p.settle(e, best)
}

// sideBySide makes the attempts at once, all but the first when ready is closed, until one has recognised the peer. One
// that is answered in its framing ends the others: a peer has one framing.
func sideBySide(ctx context.Context, attempts []*attempt, ready <-chan struct{}) (best *verdict) {
	within, stops := make([]context.Context, len(attempts)), make([]context.CancelFunc, len(attempts))
	for i := range attempts {
		within[i], stops[i] = context.WithCancel(ctx)
		defer stops[i]()
	}
	results := make(chan *verdict)
	for i, a := range attempts {
		a.framed = func() {
			for k, stop := range stops {
				if k != i && attempts[k].at.Framing != a.at.Framing {
					stop()
				}
			}
		}
		go func() {
			if i > 0 {
				select {
				case <-ready:
				case <-within[i].Done():
				}
			}
			if attempts[0].unreached {
				stops[i]()
			}
			results <- a.run(within[i])
		}()
	}
	for range attempts {
		if v := <-results; better(v, best) {
			best = v
		}
		for _, stop := range stops {
			if best != nil && !best.weak {
				stop()
			}
		}
	}
	return best
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

// messages tries a transport that has its own framing: all on one connection, and beside it what needs subprotocols of its
// own.
func (p *Prober) messages(ctx context.Context, e endpoint.Endpoint) {
	if e.Address.IsHTTP() {
		p.posts(ctx, e)
		return
	}
	patience := paces{listen: listens, first: 700 * time.Millisecond, next: 300 * time.Millisecond}
	attempts := []*attempt{p.attempt(e, "", 64, patience)}
	attempts[0].listened = func() {}
	for _, s := range p.all {
		if len(s.offers) > 0 {
			a := p.attempt(e, "", 1, patience)
			a.steps, a.offers = []*step{s}, s.offers
			attempts = append(attempts, a)
		}
	}
	ready := make(chan struct{})
	close(ready)
	p.settle(e, sideBySide(ctx, attempts, ready))
}

// posts tries POST requests, and then what an HTTP server tells of where conversations are held. A server that only tells that
// may leave POST requests without a response: half of the time is for it.
func (p *Prober) posts(ctx context.Context, e endpoint.Endpoint) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end, _ := ctx.Deadline()
	over := time.AfterFunc(time.Until(end)/2, func() { cancel(context.DeadlineExceeded) })
	defer over.Stop()
	a := p.attempt(e, "", 64, paces{first: 2 * time.Second, next: 2 * time.Second})
	a.framed = func() { over.Stop() }
	if v := a.run(within); v != nil || ctx.Err() != nil || !p.resolve(ctx, e) {
		p.settle(e, v)
	}
}
