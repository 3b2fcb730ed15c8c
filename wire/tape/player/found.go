package player

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A Found is a difference with details for Update.
type Found struct {
	match.Difference
	entry int32  // the entry of Differs and Missing, or the preceding entry of Extra (transcript.None at the start)
	from  int32  // of Extra: the entry on the compared tape
	twin  int32  // of Extra: the entry that the message replaces, or transcript.None
	msg   []byte // of Extra: the received message
}

// size returns the approximate size in bytes.
func (f *Found) size() int {
	n := 256 + len(f.Want) + len(f.Got) + len(f.msg)
	if f.Moved != nil {
		n += len(f.Moved.Around)
	}
	return n
}

// wanted returns entry i in comparable form, or nil for an entry without a message.
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

// differences returns the differences between msg and entry i, which may be a handwritten condition. It returns false if comparison is
// impossible.
func (p *play) differences(i int32, msg []byte) (found []match.Difference, ok bool) {
	line := p.track.HandwrittenLine(int(i))
	if line != nil {
		found = p.at(i, p.unbound(line, msg)...)
	}
	if line != nil && line.Match != "" {
		if ok, err := p.truth(line.Match, msg); !ok {
			found = append(found, p.at(i, match.Difference{Got: jsonOf(msg), Text: unmet(line.Match, err)})...)
		}
		return found, true
	}
	want := p.wanted(i)
	if p.refusedAlike(i, want, msg) {
		return found, true
	}
	if want == nil {
		return found, line != nil && len(line.Bind) > 0
	}
	return append(found, p.compare(i, want, msg)...), true
}

// unmet returns why a message fails a handwritten condition.
func unmet(program string, err error) string {
	if err != nil {
		return fmt.Sprintf("%s fails: %v", program, err)
	}
	return "this is not true for it: " + program
}

// compare returns the differences between got and want, the message of entry i. It ignores handles that the server generated and
// values that the line binds.
func (p *play) compare(i int32, want, got []byte) []match.Difference {
	method := p.track.Method(int(i))
	found := p.rules.Compare(method, want, got, p.values)
	if p.rules.Running(method, want) && p.rules.Running(method, got) {
		found = slices.DeleteFunc(found, func(d match.Difference) bool { return p.tellsProgress(d.Pointer) })
	}
	var bound []string
	if line := p.track.HandwrittenLine(int(i)); line != nil && len(found) > 0 {
		bound = taken(line)
	}
	found = slices.DeleteFunc(found, func(d match.Difference) bool {
		kind := scan.Type(d.Want)
		if d.Want == nil || d.Got == nil || kind != scan.Type(d.Got) {
			return false
		}
		return kind == 's' && !strings.HasSuffix(d.Pointer, "/name") && p.track.IsHandle(i, d.Want) || slices.Contains(bound, d.Pointer)
	})
	for n := range found {
		if d := &found[n]; d.Pointer == "" { // one of the messages may not be JSON
			d.Want, d.Got = jsonOf(d.Want), jsonOf(d.Got)
		}
	}
	return p.at(i, p.otherStream(found, want, got)...)
}

// tellsProgress reports whether pointer leads to the description of a running job in a response. This is everything except its
// kind and its id.
func (p *play) tellsProgress(pointer string) bool {
	return pointer != "" && pointer != "/"+p.rules.Shape().Method && pointer != "/"+p.rules.Shape().ID
}

// compareIDs is like compare, but also compares ids.
func (p *play) compareIDs(i int32, want, got []byte) []match.Difference {
	return append(p.at(i, match.IDs(p.rules.Shape(), want, got)...), p.compare(i, want, got)...)
}

// at sets the entry of the differences to i.
func (p *play) at(i int32, found ...match.Difference) []match.Difference {
	for n := range found {
		d := &found[n]
		d.Kind, d.Line, d.Method = match.Differs, int(p.track.Entry(i).Line), p.track.Method(int(i))
	}
	return found
}

// is reports whether msg matches entry i.
func (p *play) is(i int32, msg []byte) bool {
	found, ok := p.differences(i, msg)
	return ok && len(found) == 0
}

// kept returns copies of the differences of entry i without unused capacity.
func kept(i int32, found []match.Difference) []*Found {
	all := make([]*Found, len(found))
	for n, d := range found {
		d.Want, d.Got = bytes.Clone(d.Want), bytes.Clone(d.Got)
		if m := d.Moved; m != nil {
			d.Moved = &match.Moved{To: m.To, Around: bytes.Clone(m.Around)}
			if n > 0 && all[n-1].Moved != nil && bytes.Equal(m.Around, all[n-1].Moved.Around) {
				d.Moved.Around = all[n-1].Moved.Around // the differences share one copy
			}
		}
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

// A Tally counts the differences of a played server. Messages that are not on the tape do not count. A Tally is safe for concurrent
// use.
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

// Count returns the number of differences, and the first one as text.
func (t *Tally) Count() (n int, first string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count, t.first
}
