package finding

import (
	"context"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/endpoint"
)

// starts bounds how often rpcx starts the user's command to detect the dialect. Each start gets the remaining time divided by
// its number, so that some is left for one more start, for the catalog.
var starts = []int{3, 3, 4, 3, 2}

// children starts the command of e once for each framing, one after the other.
func (p *Prober) children(ctx context.Context, e endpoint.Endpoint) {
	end, _ := ctx.Deadline()
	names, header := framings(e), ""
	for i := 0; i < min(len(names), len(starts)); i++ {
		share := time.Until(end) / time.Duration(starts[i])
		a := p.attempt(e, names[i], 1, paces{listen: listenTime, first: share / 3, next: share / 30})
		a.try.Header, header = header, ""
		v := a.within(ctx, share)
		endedFirst := a.try.closed && len(a.try.Sent) == 0
		if p.settle(e, v) || ctx.Err() != nil || endedFirst || a.try.fault != nil && a.try.fault.Kind != wire.Closed && a.try.fault.Kind != wire.Protocol {
			return
		}
		names, header = a.shown(names, i)
	}
}

// within makes the attempt for at most limit. Once the peer has responded in the framing of the attempt, only ctx bounds it,
// because no other framing is possible.
func (a *attempt) within(ctx context.Context, limit time.Duration) *verdict {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	defer over.Stop()
	a.framed = func() { over.Stop() }
	return a.run(ctx)
}

// shown returns the framings to try after names[i], and the line for the heads of further messages, according to the output of a's peer.
func (a *attempt) shown(names []string, i int) (next []string, header string) {
	output := strings.ToLower(string(a.try.received) + a.try.Outcome)
	if names[i] == "header" && a.try.Header == "" && len(a.p.Session.Transport.Head) == 0 && strings.Contains(output, "content-type") {
		return slices.Insert(names, i+1, "header"), contentType
	}
	if other, _ := unframed(a.link.received, a.p.Session.Transport.NoiseLimit); a.foreign && slices.Contains(names[i+1:], other) { // the peer has shown that framing
		names = append(names[:i+1:i+1], other)
	}
	return names, ""
}

// contentType is the line that some peers require in the head of each message. Its value is the default of the Language Server
// Protocol.
const contentType = "Content-Type: application/vscode-jsonrpc; charset=utf-8"

// plainHeader bounds the wait for a response without contentType.
const plainHeader = time.Second

// streams tries all framings over parallel connections. The first connection, on which the peer may send first, is then for e's
// framing, or else for header, the usual framing of servers with a single client.
func (p *Prober) streams(ctx context.Context, e endpoint.Endpoint) {
	names := framings(e)
	if i := slices.Index(names, "header"); e.Framing == "" {
		names[0], names[i] = names[i], names[0]
	}
	pace := paces{listen: listenTime, first: 700 * time.Millisecond, next: 200 * time.Millisecond}
	attempts := wire.Map(names, func(name string) *attempt { return p.attempt(e, name, maxDials, pace) })
	if len(p.Session.Transport.Head) == 0 {
		a := p.attempt(e, "header", maxDials, pace)
		a.try.Header = contentType
		attempts = append(attempts, a)
	}
	listened := make(chan struct{})
	attempts[0].listened = func() { close(listened) }
	best := sideBySide(ctx, attempts, listened)
	if best == nil && ctx.Err() == nil && faultOf(p.report.Tried) == nil {
		best = p.oneByOne(ctx, e, names[1:])
	}
	p.settle(e, best)
}

// sideBySide makes the attempts in parallel until one has detected the peer's dialect. If ready is not nil, all attempts but the first
// wait until it is closed. If a peer responds in the framing of an attempt, that attempt ends the others, because a peer has one
// framing.
func sideBySide(ctx context.Context, attempts []*attempt, ready <-chan struct{}) (best *verdict) {
	within, stops := make([]context.Context, len(attempts)), make([]context.CancelFunc, len(attempts))
	for i := range attempts {
		within[i], stops[i] = context.WithCancel(ctx)
		defer stops[i]()
	}
	results := make(chan *verdict)
	for i, a := range attempts {
		a.framed = func() {
			for k, other := range attempts {
				if k != i {
					a.ends(other, stops[k])
				}
			}
		}
		go func() {
			if i > 0 && ready != nil && a.wait(within[i], ready) && attempts[0].unreached {
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
			if best != nil && !best.weak && best.header == "" {
				stop()
			}
		}
	}
	return best
}

// ends stops other after a response to a, because a peer has one framing. If only a has sent contentType, other continues for
// plainHeader, because the peer may also respond without that line.
func (a *attempt) ends(other *attempt, stop func()) {
	switch {
	case other.at.Framing != a.at.Framing || other.try.Header != "":
		stop()
	case a.try.Header != "":
		time.AfterFunc(plainHeader, stop)
	}
}

// wait returns true when the attempt may start, and false when ctx ends.
func (a *attempt) wait(ctx context.Context, ready <-chan struct{}) bool {
	select {
	case <-ready:
	case <-ctx.Done():
		return false
	}
	if a.try.Header != "" {
		select {
		case <-time.After(plainHeader):
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// oneByOne tries framings over successive connections, because the server may serve only one client at a time.
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

// better reports whether v is more specific than best, or needs no header unlike best. Either may be nil.
func better(v, best *verdict) bool {
	if v != nil && best != nil && v.header != best.header {
		return v.header == ""
	}
	return v != nil && (best == nil || best.weak && !v.weak || best.weak && best.catalog == nil && v.catalog != nil)
}

// maxDials bounds the connections of one attempt. Some servers close them after each unknown message.
const maxDials = 12

// messages tries a transport with its own framing. All steps share one connection, except steps with their own subprotocols, which
// use parallel connections.
func (p *Prober) messages(ctx context.Context, e endpoint.Endpoint) {
	if e.Address.IsHTTP() {
		p.posts(ctx, e)
		return
	}
	pace := paces{listen: listenTime, first: 700 * time.Millisecond, next: 300 * time.Millisecond}
	attempts := []*attempt{p.attempt(e, "", 64, pace)}
	attempts[0].listened = func() {}
	for _, s := range p.all {
		if offers := s.spec.Transport.Subprotocols; len(offers) > 0 {
			a := p.attempt(e, "", 1, pace)
			a.steps, a.offers = []*step{s}, offers
			attempts = append(attempts, a)
		}
	}
	p.settle(e, sideBySide(ctx, attempts, nil))
}

// posts tries POST requests, and then asks an HTTP server for the URL of conversations. Such a server may never answer POST
// requests, which therefore get half of the time.
func (p *Prober) posts(ctx context.Context, e endpoint.Endpoint) {
	end, _ := ctx.Deadline()
	a := p.attempt(e, "", 64, paces{first: 2 * time.Second, next: 2 * time.Second})
	if v := a.within(ctx, time.Until(end)/2); v != nil || ctx.Err() != nil || !p.resolve(ctx, e) {
		p.settle(e, v)
	}
}
