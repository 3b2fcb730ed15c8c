package finding

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// A verdict is the result of an attempt.
type verdict struct {
	dialect string
	framing string // the framing of the peer's responses, or "" if the transport has none
	header  string // the required line in the heads of messages to the peer, or ""
	weak    bool   // no specific dialect was detected
	catalog *catalog.Catalog

	listedBy  string // the listing method that returned catalog
	described bool   // rpc.discover returned an object
}

// An attempt exchanges messages in one framing over successive connections.
type attempt struct {
	p        *Prober
	at       endpoint.Endpoint
	steps    []*step
	try      *Try
	paces    paces
	dials    int // the number of remaining connections
	offers   []string
	listened func() // called once, after the time in which the peer could send first; nil if the attempt does not wait for that time
	framed   func() // called once, when the peer has responded in the framing of the attempt

	unreached bool // the first connection failed before listened was called
	link      link
	sent      []*step
	// unanswered are the sent steps without a response on this connection.
	unanswered map[*step]bool
	family     string // see familyOf
	weak       *verdict
	foreign    bool // the peer responded in another framing
}

// An event is a part of a byte stream, a message, or the end of a connection.
type event struct {
	b    []byte
	err  error
	done *step // the step whose HTTP exchange has ended; may be nil
}

// paces bounds the waits for the peer's first message, for the first response, and for each further response.
type paces struct{ listen, first, next time.Duration }

// run makes the attempt. It returns nil if it detected nothing.
func (a *attempt) run(ctx context.Context) (v *verdict) {
	defer func() {
		a.closeConn()
		a.conclude(ctx, v)
		if v != nil {
			v.header = a.try.Header
		}
	}()
	if v := a.listen(ctx); v != nil {
		return v
	}
	for _, s := range a.steps {
		if a.skips(s) {
			continue
		}
		if a.foreign || ctx.Err() != nil || a.showsTransport() || !a.send(ctx, s) {
			break
		}
		if v := a.await(ctx, s, a.pace()); v != nil {
			return v
		}
	}
	if a.link.conn != nil && (a.weak == nil || len(a.unanswered) > 0) { // the peer may still answer requests that arrived before it was ready
		if v := a.await(ctx, nil, 4*a.paces.first); v != nil { // some servers load for seconds during initialization
			return v
		}
	}
	return a.weak
}

// listen connects and waits for messages that the peer sends first.
func (a *attempt) listen(ctx context.Context) *verdict {
	if a.listened != nil {
		defer a.listened()
	}
	if a.listened == nil && len(a.at.Address.Command) == 0 || !a.connect(ctx) {
		return nil
	}
	return a.await(ctx, nil, a.paces.listen)
}

// showsTransport reports whether the received bytes belong to another transport.
func (a *attempt) showsTransport() bool {
	c, _ := a.at.Recognize(a.try.received)
	return c != nil && c.Scheme != "" && len(a.try.received) > 0 && a.at.IsBytes()
}

// pace returns the timeout for the next response.
func (a *attempt) pace() time.Duration {
	if len(a.try.received) == 0 && len(a.sent) == 1 {
		return a.paces.first
	}
	return a.paces.next
}

// skips reports whether the message of s cannot reveal more about the peer.
func (a *attempt) skips(s *step) bool {
	switch {
	case s.msg == nil:
		return true
	case s.Weak:
		return a.weak != nil
	case s.listing != nil && s.listing.of != "":
		return a.weak == nil || a.weak.listedBy != s.listing.of || a.weak.catalog.Method(a.p.Method) == nil
	case s.listing != nil:
		return a.weak == nil || a.weak.described || a.weak.catalog != nil
	}
	return a.family != "" && familyOf(s.msg) != a.family
}

// await reads until s has a response, the connection ends or the timeout expires. s may be nil.
func (a *attempt) await(ctx context.Context, s *step, pace time.Duration) *verdict {
	timer := time.NewTimer(pace)
	defer timer.Stop()
	for a.link.conn != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			return nil
		case h := <-a.link.events:
			if v, over := a.handle(h, s); v != nil || over {
				return v
			}
		}
	}
	return nil
}

// handle evaluates an event. over reports that s, which may be nil, has a response, or that no more data will arrive.
func (a *attempt) handle(h event, s *step) (v *verdict, over bool) {
	switch {
	case h.err != nil:
		a.ended(h.err)
		a.closeConn()
		return nil, true
	case h.done != nil:
		return nil, h.done == s
	}
	msgs := a.take(h.b)
	for _, msg := range msgs {
		if slices.ContainsFunc(a.sent, func(s *step) bool { return bytes.Equal(s.msg, msg) }) {
			a.try.Outcome = "the peer repeats the messages that it receives"
			continue
		}
		answers, v := a.judge(msg)
		delete(a.unanswered, answers)
		if v != nil {
			return v, true
		}
		opens := scan.Type(scan.Get(msg, "result")) == 's' // perhaps a stream with this id, whose items reveal the dialect
		over = over || s != nil && answers == s && !opens || s == nil && a.weak != nil && len(a.unanswered) == 0
	}
	return nil, over
}

func (a *attempt) ended(err error) {
	a.try.Outcome, a.try.closed = "the peer closed the connection", true
	f := wire.AsFault(err)
	switch {
	case f != nil && f.Kind != wire.Closed:
		a.try.fault, a.try.Outcome = f, f.Message
	case err != io.EOF && len(a.at.Address.Command) > 0:
		a.try.fault, a.try.Outcome = &wire.Fault{Kind: wire.Closed, Message: err.Error(), Err: err}, err.Error()
	}
	if f != nil && f.Kind == wire.Auth {
		a.dials = 0 // the peer will not accept another connection
	}
}

// take stores received data and returns the new messages in it.
func (a *attempt) take(b []byte) [][]byte {
	a.try.received = append(a.try.received, b[:min(len(b), max(maxKept-len(a.try.received), 0))]...)
	if !a.at.IsBytes() {
		return [][]byte{b}
	}
	a.link.received = append(a.link.received, b[:min(len(b), max(maxReceived-len(a.link.received), 0))]...)
	_, msgs := unframed(a.link.received, a.p.Session.Transport.NoiseLimit)
	fresh := msgs[min(a.link.seen, len(msgs)):]
	a.link.seen = len(msgs)
	return fresh
}

// judge returns the step that msg answers, or nil. If msg belongs to one specific dialect, judge also returns a
// verdict.
func (a *attempt) judge(msg json.RawMessage) (answers *step, v *verdict) {
	var request json.RawMessage
	for _, s := range a.sent {
		if s.answeredBy(msg) {
			answers, request = s, s.msg
		}
	}
	framing := ""
	if a.at.IsBytes() {
		framing, _ = unframed(a.link.received, a.p.Session.Transport.NoiseLimit)
		a.foreign = framing != a.at.Framing && (framing != "concat" || a.at.Framing != "line")
	}
	a.family = cmp.Or(familyOf(msg), a.family)
	var own []*step
	for _, s := range a.p.all {
		switch {
		case !s.recognises(msg, request):
		case !s.Weak:
			own = append(own, s)
		case a.weak == nil && !a.foreign:
			a.weak = &verdict{dialect: s.name, framing: framing, weak: true}
			a.framed()
		}
	}
	list := a.list(answers, scan.Get(msg, "result"))
	if len(own) == 1 {
		return answers, &verdict{dialect: own[0].name, framing: framing, catalog: list}
	}
	return answers, nil
}

// list returns the catalog in the result of a listing step, or nil, and stores it.
func (a *attempt) list(answers *step, result json.RawMessage) *catalog.Catalog {
	switch {
	case answers == nil:
	case answers.Lists:
		return listed(bytes.Clone(result))
	case a.weak == nil:
	case answers.listing != nil && answers.listing.of != "":
		if m := a.weak.catalog.Method(a.p.Method); m != nil {
			answers.listing.tells(m, bytes.Clone(result))
		}
	case answers.listing != nil:
		a.weak.catalog = answers.listing.reads(bytes.Clone(result))
		a.weak.listedBy = answers.listing.method
	case answers.Weak && scan.Type(result) == 'o':
		a.weak.described = true
	}
	return nil
}

func (a *attempt) conclude(ctx context.Context, v *verdict) {
	t := a.try
	t.Received = strings.ToValidUTF8(string(t.received[:min(len(t.received), maxShown)]), "\uFFFD")
	switch {
	case v != nil:
		t.Outcome = v.dialect
		if v.framing != "" {
			t.Outcome = v.framing + ", " + v.dialect
		}
	case t.Outcome != "":
	case errors.Is(context.Cause(ctx), context.Canceled):
		t.Outcome = "stopped: another attempt succeeded"
	case len(t.received) == 0:
		t.Outcome = "no response"
	case a.foreign:
		t.Outcome = "the response has another framing"
	default:
		t.Outcome = "not recognised"
	}
}
