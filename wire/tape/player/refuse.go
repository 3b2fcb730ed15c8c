package player

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// unknown rejects a message that is not on the tape. The difference names the most similar message on the tape.
func (s *serving) unknown(c *conn, parsed match.Parsed, msg []byte) {
	f := match.Difference{Kind: match.Unknown, Method: parsed.Method}
	if parsed.Method == "" {
		s.reportUnexpected(c, parsed, msg, f)
		return
	}
	if s.omitted(parsed.Method) {
		s.e.refuse(c, parsed.ID, errorMessage(s.e.t.Rules.Shape().Error, parsed.ID, wire.CodeNoMethod, "not on the tape", f, nil))
		return
	}
	var best []match.Difference
	for n := range s.e.t.Tracks {
		p := s.e.play((s.e.primary + n) % len(s.e.t.Tracks))
		i, d := p.nearest(parsed.Method, msg, false)
		if i != transcript.None && (f.Line == 0 || len(d) < len(best)) {
			f.Line, best = int(p.track.Entry(i).Line), d
		}
	}
	if f.Line == 0 {
		f.Text = "no request has this method"
		if d := s.renamed(msg); d != nil {
			f.Line = d.Line
			f.Text += fmt.Sprintf("; did you mean %s (line %d)?", d.Method, d.Line)
			s.refuse(c, parsed, msg, f, *d)
			return
		}
		for n := range s.e.t.Tracks {
			if near := s.e.play(n).nearestMethod(parsed.Method); near != "" {
				f.Text += "; did you mean " + near + "?"
				break
			}
		}
	}
	s.refuse(c, parsed, msg, f, best...)
}

// omitted reports whether the recorded client did not call method because it had the catalog already.
func (s *serving) omitted(method string) bool {
	if !slices.Contains(s.e.t.Rules.Shape().Discovery, method) {
		return false
	}
	_, called := s.e.t.Number(method)
	return !called
}

// maxRenamed is how many entries are compared with a message whose method is unknown.
const maxRenamed = 32

// renamed returns the difference between msg and the first of the next entries from which msg differs in only one member, which is
// usually the method. If there is no such entry, it returns nil.
func (p *play) renamed(msg []byte) *match.Difference {
	first := p.furthest + 1
	for i := first; i < min(first+maxRenamed, int32(p.track.Len())); i++ {
		e := p.track.Entry(i)
		if e.Dir == p.side || e.Kind == wire.Response || e.Handwritten || p.seen(i) > 0 {
			continue
		}
		if d := p.onlyOne(i, msg); d != nil {
			return d
		}
	}
	return nil
}

// onlyOne returns the difference between msg and entry i if there is exactly one. The id of a response is compared as
// well. Otherwise it returns nil.
func (p *play) onlyOne(i int32, msg []byte) *match.Difference {
	want := p.wanted(i)
	if scan.Type(want) != 'o' {
		return nil
	}
	if found := p.compareIDs(i, want, msg); len(found) == 1 {
		return &found[0]
	}
	return nil
}

// renamed calls play.renamed for each track, starting with the primary one.
func (s *serving) renamed(msg []byte) *match.Difference {
	for n := range s.e.t.Tracks {
		p := s.e.play((s.e.primary + n) % len(s.e.t.Tracks))
		if d := p.renamed(msg); d != nil {
			return d
		}
	}
	return nil
}

// reportUnexpected reports a message that is neither a request nor the response to a local call. If the message differs
// in only one member from an expected response or another message, reportUnexpected reports that difference.
func (s *serving) reportUnexpected(c *conn, parsed match.Parsed, msg []byte, f match.Difference) {
	d := s.nearResponse(msg)
	if d == nil && parsed.Kind != wire.Response {
		d = s.renamed(msg)
	}
	switch {
	case d != nil:
		s.e.o.Found(*d)
		return
	case parsed.Kind == wire.Response:
		f.Text = "it is not the response to a call"
	default:
		f.Text = "it is not a message of this dialect"
	}
	s.refuse(c, parsed, msg, f)
}

// nearResponse returns the difference between msg and an expected response that differs from it in only one member,
// which is usually the id. If there is no such response, it returns nil.
func (s *serving) nearResponse(msg []byte) *match.Difference {
	for _, p := range s.e.plays {
		if p == nil {
			continue
		}
		for call := range p.asked {
			i := p.track.Entry(call).Answer
			if i == transcript.None || p.track.Entry(i).Handwritten {
				continue
			}
			if d := p.onlyOne(i, msg); d != nil {
				return d
			}
		}
	}
	return nil
}

// refuse responds with an error and reports a difference.
func (s *serving) refuse(c *conn, parsed match.Parsed, msg []byte, f match.Difference, differences ...match.Difference) {
	f.Method = parsed.Method
	if len(differences) > 0 {
		at := wire.Map(differences, match.Difference.Place)
		if len(at) > 8 {
			at = append(at[:8], "…")
		}
		f.Pointer, f.Want, f.Got = differences[0].Pointer, differences[0].Want, differences[0].Got
		if f.Text == "" {
			f.Text = fmt.Sprintf("the nearest is line %d, which differs at %s", f.Line, strings.Join(at, ", "))
		}
	}
	if f.Got == nil {
		f.Got = append(json.RawMessage(nil), msg...)
	}
	if parsed.Kind != wire.Request {
		f.Kind = match.Extra
		s.e.o.Found(f)
		return
	}
	s.e.o.Found(f)
	code := wire.CodeServer
	if (f.Line == 0 || f.Pointer == "/"+s.e.t.Rules.Shape().Method) && !s.e.o.Strict {
		code = wire.CodeNoMethod
	}
	s.e.refuse(c, parsed.ID, errorMessage(s.e.t.Rules.Shape().Error, parsed.ID, code, "not on the tape: "+f.Text, f, differences))
}

// refusal returns the error response to a request whose recorded response is an HTTP error with a text as its body.
func (p *play) refusal(id wire.ID, status int, text []byte) []byte {
	return errorMessage(p.rules.Shape().Error, id, wire.CodeServer, refusalText(status, text), match.Difference{}, nil)
}

func refusalText(status int, text []byte) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", status, text))
}

// refusedAlike reports whether msg is the error response that a played server sends for entry i, whose recorded text is
// want.
func (p *play) refusedAlike(i int32, want, msg []byte) bool {
	own := p.track.Entry(i).Own
	if own == transcript.None || want == nil {
		return false
	}
	status := p.track.Refused(own)
	if status == 0 || scan.Valid(want, wire.DefaultMaxDepth) == nil {
		return false
	}
	message, _ := scan.Text(scan.Get(scan.Get(msg, "error"), "message"))
	return message == refusalText(status, want)
}

func errorMessage(template string, id wire.ID, code int, message string, f match.Difference, differences []match.Difference) []byte {
	var all scan.Array
	for _, d := range differences {
		var o scan.Object
		o.Text("pointer", d.Pointer)
		o.Add("want", d.Want)
		o.Add("got", d.Got)
		all.Add(o.End())
	}
	var data scan.Object
	data.Int("line", int64(f.Line))
	data.Add("differences", all.End())
	return []byte(strings.NewReplacer("$id", id.String(), "$code", strconv.Itoa(code),
		"$message", string(scan.AppendQuoted(nil, message)), "$data", string(data.End())).Replace(template))
}
