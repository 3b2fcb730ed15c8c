package player

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A play is the state of one track in one conversation.
type play struct {
	track *transcript.Track
	rules *match.Rules
	side  wire.Direction // the local side
	index *index

	values   *match.Values
	once     bool                       // each block is sent only once, because requests are not repeated
	vars     map[string]json.RawMessage // bound values and Options.Set
	ctx      context.Context            // limits how long the programs on the tape run
	counts   ints                       // see seen
	begun    ints                       // see begin
	owed     map[int32][]request        // live requests that have no response yet, by recorded request
	latest   map[int32]request          // the latest live request, by recorded request
	furthest int32                      // the latest entry of the other side that has arrived, or None
	strict   int32                      // if the order matters, entries before this one may no longer arrive
	queue    []int32                    // responses that wait for messages other than their request
	answers  map[int32]int32            // for a local request with many responses: the responses before this one have all arrived
	asked    map[int32]bool             // local requests that have no response yet
	ended    map[string]bool            // streams that the client has ended earlier than recorded
	streams  map[string]string          // maps live streams to recorded ones
	heads    map[uint64]int             // how many of the first entries with a key are already used (see unused)
}

// A request is a live request that is waiting for its response.
type request struct {
	id     wire.ID
	conn   *conn
	batch  *batch // the batch that contains the request, or nil
	binary bool   // the response must be sent as a binary WebSocket message
}

func newPlay(t *transcript.Track, side wire.Direction, x *index, o Options) *play {
	p := &play{
		track: t, rules: t.Of().Rules, side: side, values: &match.Values{IsStream: t.IsStream}, index: x,
		vars: map[string]json.RawMessage{}, owed: map[int32][]request{}, latest: map[int32]request{}, asked: map[int32]bool{}, answers: map[int32]int32{}, ended: map[string]bool{}, furthest: transcript.None,
		streams: map[string]string{}, heads: map[uint64]int{},
	}
	p.ctx = cmp.Or(o.ctx, context.Background())
	maps.Copy(p.vars, o.Set)
	return p
}

// seen returns how often entry i has been received or sent.
func (p *play) seen(i int32) uint32 { return p.counts.get(int(i)) }

func (p *play) see(i int32) { p.counts.set(int(i), p.seen(i)+1) }

func (p *play) unsee(i int32) { p.counts.set(int(i), 0) }

// begin records that the block after entry i, which may be None, has begun. It returns false if the block had already begun.
func (p *play) begin(i int32) bool {
	first := p.begun.get(int(i)+1) == 0
	p.begun.set(int(i)+1, 1)
	return first
}

// find returns the entry that equals msg, which is not a response. If there are several, it returns the first one that is
// unused, or else the last one; if there is none, it returns None.
func (p *play) find(parsed match.Parsed, msg []byte, json bool) int32 {
	hash := p.rules.HashBytes(msg)
	if json {
		hash = p.rules.Hash(parsed.Method, msg)
	}
	first, last := p.firstOf(p.index.entries.find(hash), msg, json)
	if first == transcript.None && json {
		first, last = p.handOf(msg, first, last)
	}
	if last == transcript.None && json { // msg may differ only in times, redacted values or parts that are ignored
		first, last = p.alike(parsed.Method, msg)
	}
	if first != transcript.None {
		return first
	}
	return last
}

// firstOf returns the first unused entry in all that equals msg, and the last entry that equals msg.
func (p *play) firstOf(all multimap, msg []byte, json bool) (first, last int32) {
	for _, c := range all[p.unused(all):] {
		if i := c.val; p.seen(i) == 0 && (!json || p.is(i, msg)) {
			return i, i
		}
	}
	for _, c := range slices.Backward(all) {
		if i := c.val; p.seen(i) > 0 && (!json || p.is(i, msg)) {
			return transcript.None, i
		}
	}
	return transcript.None, transcript.None
}

// handOf is like firstOf, but for handwritten lines. first and last are the results so far.
func (p *play) handOf(msg []byte, first, last int32) (int32, int32) {
	for _, i := range p.index.hand {
		if !p.is(i, msg) {
			continue
		}
		last = max(last, i)
		if p.seen(i) == 0 {
			return i, last
		}
	}
	return first, last
}

// maxNearest limits the number of comparisons in nearest.
const maxNearest = 200

// nearest returns the entry that is most similar to msg and its differences. It prefers an unused entry. If the tape has no message of
// this method, it returns None.
func (p *play) nearest(method string, msg []byte, unusedOnly bool) (int32, []match.Difference) {
	best, differences, least := int32(transcript.None), []match.Difference(nil), 0
	all, tried, from := p.named(method), 0, 0
	if unusedOnly {
		from = p.unused(all)
	}
	for _, c := range all[from:] {
		i := c.val
		if unusedOnly && p.seen(i) > 0 {
			continue
		}
		if tried++; tried > maxNearest {
			break
		}
		want := p.wanted(i)
		if want == nil {
			continue
		}
		d := p.compare(i, want, msg)
		far := len(d)
		if len(p.otherStream(nil, want, msg)) > 0 { // this counts more than all other differences
			far += 1 << 20
		}
		if best == transcript.None || far < least || far == least && p.seen(best) > 0 && p.seen(i) == 0 {
			best, differences, least = i, d, far
		}
	}
	return best, differences
}

// nearestMethod returns the method on the tape whose name is most similar to method, or "".
func (p *play) nearestMethod(method string) string {
	var names []string
	for _, name := range p.index.methods {
		if name != "" {
			names = append(names, name)
		}
	}
	return catalog.Nearest(method, names)
}

// accept records that the live message msg belongs to entry i.
func (p *play) accept(i int32, msg []byte) {
	p.see(i)
	p.furthest = max(p.furthest, i)
	if line := p.track.HandwrittenLine(int(i)); line != nil {
		p.bind(line, msg)
		if line.Match != "" {
			return
		}
	}
	if want, err := p.track.Message(int(i)); err == nil && want != nil {
		answer := p.track.Entry(i).Kind == wire.Response
		if len(p.otherStream(nil, want, msg)) > 0 {
			return
		}
		p.rules.Learn(p.track.Method(int(i)), want, msg, answer, p.values)
		p.learnStream(want, msg, answer)
	}
}

// outgoing returns the message of entry i with the values of this conversation. live is the request to which it is a
// response, or nil.
func (p *play) outgoing(i int32, live *request) ([]byte, error) {
	msg, err := p.track.Message(int(i))
	if err != nil || scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		return msg, err
	}
	e := p.track.Entry(i)
	line := p.track.HandwrittenLine(int(i))
	if line != nil && line.Vars {
		msg = substitute(msg, p.vars)
	}
	if e.Redacted {
		msg, _ = fill(msg, p.vars, nil)
	}
	msg = p.rules.Rewrite(nil, p.track.Method(int(i)), msg, p.values)
	if len(p.ended) > 0 && live != nil {
		delete(p.ended, string(scan.Get(msg, "result"))) // the stream has been opened again
	}
	if live != nil && live.id != nil {
		msg = match.SetID(p.rules.Shape(), msg, live.id)
	}
	if line != nil {
		if line.Re != "" || line.Vars {
			msg = p.versioned(msg)
		}
		p.bind(line, msg)
	}
	return msg, nil
}

// over reports whether entry i must be skipped, because the client has ended its stream, or because there is a later status
// request for the same job.
func (p *play) over(i int32) bool {
	if p.side == wire.Send {
		return p.track.Repeated(i)
	}
	if len(p.ended) == 0 {
		return false
	}
	msg, err := p.track.Message(int(i))
	return err == nil && p.ended[string(p.rules.StreamOf(msg))]
}

// versioned adds the JSON-RPC version member to msg, a handwritten message, if it is missing and the dialect requires
// it.
func (p *play) versioned(msg []byte) []byte {
	const version = `"jsonrpc":"2.0"`
	if !strings.Contains(p.rules.Shape().Error, version) || scan.Get(msg, "jsonrpc") != nil {
		return msg
	}
	return scan.Splice(msg, "jsonrpc", []byte(`"2.0"`))
}
