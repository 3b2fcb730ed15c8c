package player

import (
	"encoding/json"
	"maps"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A play is one connection of the tape as it is played in one conversation.
type play struct {
	track *transcript.Track
	rules *match.Rules
	side  wire.Direction // ours
	index *index

	values   *match.Values
	once     bool                       // each block is sent once: nothing is asked again
	begun    []bool                     // the entries whose blocks were begun, where they are sent once
	vars     map[string]json.RawMessage // what was bound, and Options.Set
	heads    map[any]int                // how many of an index's entries, from the first, are used: by hash or method
	seen     []uint32                   // of each entry: how often it came, or was sent
	owed     map[int32][]request        // live requests that wait for the answer that was recorded for the entry
	latest   map[int32]request          // the latest live request of each entry
	furthest int32                      // the last entry of the other side that has come; None
	held     []int32                    // answers whose request has come, and which wait for something else
	asked    map[int32]bool             // our requests that were not answered yet
	ended    map[string]bool            // the streams that the client has ended before the recorded one did
}

// A request is one of the live peer that waits for its answer.
type request struct {
	id    wire.ID
	conn  *conn
	batch *batch // that it came in; nil: none
}

func newPlay(t *transcript.Track, side wire.Direction, x *index, set map[string]json.RawMessage) *play {
	p := &play{
		track: t, rules: t.Of().Rules, side: side, values: &match.Values{Streams: t.Streams}, index: x, seen: make([]uint32, len(t.Entries)),
		vars: maps.Clone(set), heads: map[any]int{}, owed: map[int32][]request{}, latest: map[int32]request{}, asked: map[int32]bool{}, ended: map[string]bool{}, furthest: transcript.None,
	}
	if p.vars == nil {
		p.vars = map[string]json.RawMessage{}
	}
	return p
}

// find returns the entry that msg, no answer, is: the first unused of those that
// equal it, else the last of them; None where there is none.
func (p *play) find(parsed match.Parsed, msg []byte, json bool) int32 {
	hash := p.rules.HashBytes(msg)
	if json {
		hash = p.rules.Hash(parsed.Method, msg)
	}
	first, last := p.firstOf(p.index.equals(hash), hash, msg, json)
	if first == transcript.None && json {
		first, last = p.handOf(msg, first, last)
	}
	if last == transcript.None && json { // times, redacted values, what the user ignores
		first, last = p.firstOf(p.index.byMethod[parsed.Method], parsed.Method, msg, json)
	}
	if first != transcript.None {
		return first
	}
	return last
}

// firstOf returns the first unused entry of candidates that equals msg, and the
// last that does. key names candidates.
func (p *play) firstOf(candidates []int32, key any, msg []byte, json bool) (first, last int32) {
	head := p.heads[key]
	for head < len(candidates) && p.seen[candidates[head]] > 0 {
		head++
	}
	if head > 0 {
		p.heads[key] = head
	}
	for _, i := range candidates[head:] {
		if p.seen[i] == 0 && (!json || p.equals(i, msg)) {
			return i, i
		}
	}
	for k := len(candidates) - 1; k >= 0; k-- {
		if i := candidates[k]; p.seen[i] > 0 && (!json || p.equals(i, msg)) {
			return transcript.None, i
		}
	}
	return transcript.None, transcript.None
}

// handOf is firstOf for the lines that people wrote; first and last are what was
// found before.
func (p *play) handOf(msg []byte, first, last int32) (int32, int32) {
	for _, i := range p.index.hand {
		if !p.like(i, msg) {
			continue
		}
		last = max(last, i)
		if p.seen[i] == 0 {
			return i, last
		}
	}
	return first, last
}

func (p *play) equals(i int32, msg []byte) bool {
	want, err := p.track.Message(int(i))
	return err == nil && want != nil && len(p.compare(i, want, msg)) == 0
}

// nearestMost bounds the entries that are compared in the search for the nearest.
const nearestMost = 200

// nearest returns the entry that is most like msg, with the differences; None where
// the tape has no message of that method.
func (p *play) nearest(method string, msg []byte, unusedOnly bool) (int32, []match.Difference) {
	best, differences := int32(transcript.None), []match.Difference(nil)
	candidates, tried := p.index.byMethod[method], 0
	for _, i := range candidates {
		if unusedOnly && p.seen[i] > 0 {
			continue
		}
		if tried++; tried > nearestMost {
			break
		}
		want, err := p.track.Message(int(i))
		if err != nil || want == nil {
			continue
		}
		d := p.compare(i, want, msg)
		if best == transcript.None || len(d) < len(differences) {
			best, differences = i, d
		}
	}
	return best, differences
}

// nearestMethod returns the name on the tape that is most like method; "": none is.
func (p *play) nearestMethod(method string) string {
	var names []string
	for name := range p.index.byMethod {
		if name != "" {
			names = append(names, name)
		}
	}
	return catalog.Nearest(method, names)
}

// accept notes that the live msg is entry i.
func (p *play) accept(i int32, msg []byte) {
	p.seen[i]++
	p.furthest = max(p.furthest, i)
	e := &p.track.Entries[i]
	if line := p.track.Hand(int(i)); line != nil {
		bind(line, msg, p.vars)
		if line.Match != "" {
			return
		}
	}
	if want, err := p.track.Message(int(i)); err == nil && want != nil {
		p.rules.Learn(p.track.Method(int(i)), want, msg, e.Kind == wire.Response, p.values)
	}
}

// outgoing makes the message of entry i as it is sent in this conversation. live
// is the request that it answers; nil: none.
func (p *play) outgoing(i int32, live *request) ([]byte, error) {
	msg, err := p.track.Message(int(i))
	if err != nil || scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		return msg, err
	}
	e := &p.track.Entries[i]
	line := p.track.Hand(int(i))
	if line != nil && line.Vars {
		msg = substitute(nil, msg, p.vars)
	}
	if e.Redacted {
		msg, _ = fill(nil, msg, "", p.vars)
	}
	msg = p.rules.Rewrite(nil, p.track.Method(int(i)), msg, p.values)
	if len(p.ended) > 0 && live != nil {
		delete(p.ended, string(scan.Get(msg, "result"))) // it is opened again
	}
	if live != nil && live.id != nil {
		msg = scan.Splice(msg, p.rules.Shape().ID, live.id)
	}
	if line != nil {
		msg = p.versioned(msg)
		bind(line, msg, p.vars)
	}
	return msg, nil
}

// over reports whether entry i is an item of a stream that the client has ended.
func (p *play) over(i int32) bool {
	if len(p.ended) == 0 {
		return false
	}
	msg, err := p.track.Message(int(i))
	return err == nil && p.ended[string(p.rules.StreamOf(msg))]
}

// versioned returns msg, which people wrote, with the member that says the version
// of JSON-RPC, where the dialect has it and they left it out.
func (p *play) versioned(msg []byte) []byte {
	const version = `"jsonrpc":"2.0"`
	if !strings.Contains(p.rules.Shape().Error, version) || scan.Get(msg, "jsonrpc") != nil {
		return msg
	}
	return scan.Splice(msg, "jsonrpc", []byte(`"2.0"`))
}
