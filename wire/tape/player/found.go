package player

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A Found is a difference with the details that Update needs.
type Found struct {
	match.Difference
	entry int32  // for Differs and Missing, the entry; for Extra, the entry before the message (transcript.None at the start)
	from  int32  // only for Extra: the entry on the other tape
	twin  int32  // only for Extra: the missing entry that the message replaces, or transcript.None
	msg   []byte // only for Extra: the received message
}

// size returns the approximate size of f in bytes.
func (f *Found) size() int {
	n := 256 + len(f.Want) + len(f.Got) + len(f.msg)
	if f.Moved != nil {
		n += len(f.Moved.Around)
	}
	return n
}

// wanted returns entry i in a form that can be compared, or nil if the entry has no message.
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

// differences returns the differences between msg and entry i, which may be a handwritten condition. It returns false if they cannot
// be compared.
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

// unmet describes why a message does not fulfil a handwritten condition.
func unmet(program string, err error) string {
	if err != nil {
		return fmt.Sprintf("%s fails: %v", program, err)
	}
	return "the condition is not met: " + program
}

// compare returns the differences between got and want, which is the message of entry i. It ignores handles that the server has
// generated, and values that the line binds.
func (p *play) compare(i int32, want, got []byte) []match.Difference {
	method := p.track.Method(int(i))
	found := p.rules.Compare(method, want, got, p.values)
	if p.rules.Running(method, want) && p.rules.Running(method, got) {
		found = slices.DeleteFunc(found, func(d match.Difference) bool { return p.isProgress(d.Pointer) })
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
		if d := &found[n]; d.Pointer == "" { // one of the messages may be something other than JSON
			d.Want, d.Got = jsonOf(d.Want), jsonOf(d.Got)
		}
	}
	return p.at(i, p.otherStream(found, want, got)...)
}

// isProgress reports whether pointer leads to the description of a job's progress in a response. That is everything
// except the kind and the id of the message.
func (p *play) isProgress(pointer string) bool {
	return pointer != "" && pointer != "/"+p.rules.Shape().Method && pointer != "/"+p.rules.Shape().ID
}

// compareIDs is like compare, but also compares the ids of responses.
func (p *play) compareIDs(i int32, want, got []byte) (found []match.Difference) {
	if p.track.Entry(i).Kind == wire.Response {
		found = p.at(i, match.IDs(p.rules.Shape(), want, got)...)
	}
	return append(found, p.compare(i, want, got)...)
}

// at sets the line and the method of the differences to those of entry i.
func (p *play) at(i int32, found ...match.Difference) []match.Difference {
	for n := range found {
		d := &found[n]
		d.Kind, d.Line, d.Method = match.Differs, int(p.track.Entry(i).Line), p.track.Method(int(i))
	}
	return found
}

// is reports whether msg equals entry i.
func (p *play) is(i int32, msg []byte) bool {
	found, ok := p.differences(i, msg)
	return ok && len(found) == 0
}

// kept returns copies of the differences at entry i that have no unused capacity.
func kept(i int32, found []match.Difference) []*Found {
	all := make([]*Found, len(found))
	for n, d := range found {
		d.Want, d.Got = bytes.Clone(d.Want), bytes.Clone(d.Got)
		if m := d.Moved; m != nil {
			d.Moved = &match.Moved{To: m.To, Around: bytes.Clone(m.Around)}
			if n > 0 && all[n-1].Moved != nil && bytes.Equal(m.Around, all[n-1].Moved.Around) {
				d.Moved.Around = all[n-1].Moved.Around // all of them share one copy
			}
		}
		all[n] = &Found{Difference: d, entry: i, twin: transcript.None}
	}
	return all
}

// jsonOf returns msg as a JSON value. If msg is not JSON, that is a string.
func jsonOf(msg []byte) json.RawMessage {
	if msg == nil || json.Valid(msg) {
		return msg
	}
	return scan.JSON(string(msg))
}
