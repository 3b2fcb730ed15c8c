package peer

import (
	"strconv"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func newCall(c *calls, id string) *stream {
	s := newStream(&Peer{}, dialect.Op{Kind: dialect.Call, Method: "m"})
	c.add(s, wire.ID(id))
	return s
}

func TestCallsCountWaitingCalls(t *testing.T) {
	c := newCalls()
	one := newStream(&Peer{}, dialect.Op{Kind: dialect.Call})
	one.oneAnswer = true
	c.add(one, wire.ID("1"))
	open := newCall(&c, "2")
	if c.waiting != 2 || c.awaiting != 1 || c.onlyOpen() != open || c.count() != 2 {
		t.Fatalf("%d calls wait, %d of them for a stream, %d in total", c.waiting, c.awaiting, c.count())
	}
	c.setWaiting(open, false)
	c.setWaiting(open, false)
	if c.waiting != 1 || c.awaiting != 0 || c.onlyOpen() != nil {
		t.Errorf("%d calls wait, %d of them for a stream", c.waiting, c.awaiting)
	}
	c.remove(one)
	c.remove(open)
	if c.waiting != 0 || c.count() != 0 {
		t.Errorf("%d calls wait, %d in total, after both were removed", c.waiting, c.count())
	}
}

// pipelined is a call in a pipeline.
type pipelined struct{}

func (pipelined) Answered(*wire.Message) bool { return true }
func (pipelined) Opened(dialect.Stream)       {}

// A call that leaves the pipeline gets one response, not a stream.
func TestPromotedCall(t *testing.T) {
	p := &Peer{calls: newCalls()}
	l := &callPipeline{p: p, calls: &p.calls}
	l.stream(pipelineSlot{id: 1, op: &dialect.Op{Kind: dialect.Call}, call: pipelined{}})
	if p.calls.waiting != 1 || p.calls.awaiting != 0 || p.calls.onlyOpen() != nil {
		t.Errorf("%d calls wait, %d of them for a stream", p.calls.waiting, p.calls.awaiting)
	}
}

func TestCallsAbandonIsBounded(t *testing.T) {
	c := newCalls()
	for i := range maxAbandoned + 10 {
		s := &stream{}
		s.setID(strconv.AppendInt(nil, int64(100+i), 10))
		c.abandon(s)
	}
	c.abandon(&stream{}) // never sent, so it has no id
	testkit.Expect(t, "abandoned calls", len(c.abandoned), maxAbandoned)
	s := &stream{}
	s.setID(wire.ID("7"))
	if c.taken(wire.ID("7")) {
		t.Error("an unused id counts as taken")
	}
	if c.abandon(s); !c.taken(wire.ID("7")) {
		t.Error("the id of an abandoned call does not count as taken")
	}
}

func TestCallsOverfull(t *testing.T) {
	c := newCalls()
	s := newCall(&c, "1")
	if !c.setOverfull(s, true) || c.setOverfull(s, true) || c.overfull != 1 {
		t.Fatal("setOverfull must report a change once")
	}
	if c.remove(s); c.overfull != 0 {
		t.Error("an ended stream counts as overfull")
	}
}
