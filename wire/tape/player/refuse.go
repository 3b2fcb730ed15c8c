package player

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// unknown refuses a message that is not on the tape, and names the nearest one
// on it.
func (s *serving) unknown(c *conn, parsed match.Parsed, msg []byte) {
	f := Finding{Kind: Unknown, Method: parsed.Method}
	var best []match.Difference
	for n := range s.e.t.Tracks {
		p := s.e.play((s.e.primary + n) % len(s.e.t.Tracks))
		i, d := p.nearest(parsed.Method, msg, false)
		if i != transcript.None && (f.Line == 0 || len(d) < len(best)) {
			f.Line, best = int(p.track.Entry(i).Line), d
		}
	}
	if f.Line == 0 {
		f.Text = "no call of " + parsed.Method + " is on the tape"
		for n := range s.e.t.Tracks {
			if near := s.e.play(n).nearestMethod(parsed.Method); near != "" {
				f.Text += ": did you mean " + near + "?"
				break
			}
		}
	}
	s.refuse(c, parsed, msg, f, best...)
}

// refuse answers with an error, and reports a Finding.
func (s *serving) refuse(c *conn, parsed match.Parsed, msg []byte, f Finding, differences ...match.Difference) {
	f.Method = parsed.Method
	if len(differences) > 0 {
		var at []string
		for _, d := range differences {
			at = append(at, pointerText(d.Pointer))
		}
		if len(at) > 8 {
			at = append(at[:8], "…")
		}
		f.Pointer, f.Want, f.Got = differences[0].Pointer, differences[0].Want, differences[0].Got
		f.Text = fmt.Sprintf("the nearest is line %d, which differs at %s", f.Line, strings.Join(at, ", "))
	}
	if f.Got == nil {
		f.Got = append(json.RawMessage(nil), msg...)
	}
	if parsed.Kind != wire.Request {
		f.Kind = Extra
		s.o.Found(f)
		return
	}
	s.o.Found(f)
	code := wire.CodeServer
	if f.Line == 0 && !s.o.Strict {
		code = wire.CodeNoMethod
	}
	s.e.refuse(c, parsed.ID, errorMessage(s.e.t.Rules.Shape().Error, parsed.ID, code, "not on the tape: "+f.Text, f, differences))
}

func pointerText(pointer string) string {
	if pointer == "" {
		return "the whole message"
	}
	return pointer
}

// errorMessage fills in a Shape's Error.
func errorMessage(template string, id wire.ID, code int, message string, f Finding, differences []match.Difference) []byte {
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
