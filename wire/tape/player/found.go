package player

import (
	"bytes"
	"encoding/json"
	"sync"

	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A Found is a difference with what Update has to know of it.
type Found struct {
	match.Difference
	entry int32  // of Differs and Missing; of Extra, the one after which it came, transcript.None: before all
	from  int32  // of Extra, the entry of the tape that is compared
	twin  int32  // of Extra, the entry in whose place it came; transcript.None: none
	msg   []byte // of Extra, what came
}

// size returns about how many bytes it takes.
func (f *Found) size() int { return 256 + len(f.Want) + len(f.Got) + len(f.msg) }

// wanted returns entry i as messages are compared with it; nil if it has no message.
func (p *play) wanted(i int32) []byte {
	want, err := p.track.Message(int(i))
	if err != nil || want == nil {
		return nil
	}
	if line := p.track.HandwrittenLine(int(i)); line != nil && line.Vars {
		return substitute(want, p.vars)
	}
	return want
}

// differences returns how msg differs from entry i, which may be a condition that people wrote;
// false: it cannot be compared with that.
func (p *play) differences(i int32, msg []byte) (found []match.Difference, ok bool) {
	if line := p.track.HandwrittenLine(int(i)); line != nil && line.Match != "" {
		if !p.truth(line.Match, msg) {
			found = p.at(i, match.Difference{Got: jsonOf(msg), Text: "it does not make this true: " + line.Match})
		}
		return found, true
	}
	want := p.wanted(i)
	if want == nil {
		return nil, false
	}
	return p.compare(i, want, msg), true
}

// compare returns how got differs from want, the message of entry i.
func (p *play) compare(i int32, want, got []byte) []match.Difference {
	return p.at(i, p.otherStream(p.rules.Compare(p.track.Method(int(i)), want, got, p.values), want, got)...)
}

// compareIDs is compare for messages whose ids have to be equal.
func (p *play) compareIDs(i int32, want, got []byte) []match.Difference {
	return append(p.at(i, match.IDs(p.rules.Shape(), want, got)...), p.compare(i, want, got)...)
}

// at says of differences that they are those of entry i.
func (p *play) at(i int32, found ...match.Difference) []match.Difference {
	for n := range found {
		d := &found[n]
		d.Kind, d.Line, d.Method = match.Differs, int(p.track.Entry(i).Line), p.track.Method(int(i))
	}
	return found
}

// is reports whether msg is as entry i says.
func (p *play) is(i int32, msg []byte) bool {
	found, ok := p.differences(i, msg)
	return ok && len(found) == 0
}

// kept returns copies of the differences of entry i, which need no more memory than they have.
func kept(i int32, found []match.Difference) []*Found {
	all := make([]*Found, len(found))
	for n, d := range found {
		d.Want, d.Got = bytes.Clone(d.Want), bytes.Clone(d.Got)
		all[n] = &Found{Difference: d, entry: i, twin: transcript.None}
	}
	return all
}

// jsonOf returns msg as a JSON value.
func jsonOf(msg []byte) json.RawMessage {
	if msg == nil || json.Valid(msg) {
		return msg
	}
	return scan.JSON(string(msg))
}

// A Tally counts the differences of a played server, except messages that the tape does not have, which are not a fault. It
// is safe for concurrent use.
type Tally struct {
	mu    sync.Mutex
	count int
	first string
}

// Add adds a difference.
func (t *Tally) Add(d match.Difference) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.Kind == match.Extra {
		return
	}
	if t.count++; t.count == 1 {
		t.first = d.String()
	}
}

// Count returns the number of differences, and the first as text.
func (t *Tally) Count() (n int, first string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count, t.first
}
