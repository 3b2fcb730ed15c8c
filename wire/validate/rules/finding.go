package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"rpcx/wire/jq"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
)

// A Finding is one violation of a rule.
type Finding struct {
	Rule    *Rule
	Line    int    // on the tape, or the number of the message in a live conversation
	Conn    int    // 0: the only connection
	From    string // who broke the rule: "client" or "server"; "": not known
	Section string // of Rule.Page
	Pointer string // a JSON pointer into the message; "" is the whole message
	Want    string // what was expected
	Got     string // what was there, shortened; "": not said
}

// finding returns the finding for an output of r's program; none if it is about
// a secret that the tape does not hold.
func (c *Checker) finding(v *view, r *Rule, out any) []Finding {
	f := Finding{Rule: r, Line: v.line.Number, Conn: v.line.Conn, From: v.from, Section: r.Section, Want: r.Sentence}
	place := out
	if m, ok := out.(map[string]any); ok {
		place = m["at"]
		if n, ok := jq.Number(m["n"]); ok {
			f.Line = int(n)
		}
		if want, ok := m["want"].(string); ok {
			f.Want = want
		}
		if from, ok := m["from"].(string); ok {
			f.From = from
		}
		if section, ok := m["section"].(string); ok {
			f.Section = section
		}
		if got, ok := m["got"]; ok {
			f.Got = brief(got)
		}
	}
	f.Pointer = pointer(place)
	if f.Got == "" && f.Line == v.line.Number {
		val, there := lookup(v.val["msg"], f.Pointer)
		switch {
		case val == tape.Redacted, v.line.Vars && isVariable(val):
			return nil
		case !there && f.Pointer != "":
			f.Got = "nothing"
		case f.Pointer != "":
			f.Got = brief(val)
		case v.val["text"] != nil:
			f.Got = brief(v.val["text"])
		}
	}
	f.Pointer = v.prefix + f.Pointer
	return []Finding{f}
}

// isVariable reports whether a value of a tape's line stands for another one,
// by "vars" (rpcx-tape(5)).
func isVariable(val any) bool {
	s, _ := val.(string)
	return strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}")
}

// pointer returns a place as a JSON pointer; it may be given as a path, an
// array.
func pointer(place any) string {
	switch place := place.(type) {
	case string:
		return place
	case []any:
		var b strings.Builder
		for _, step := range place {
			b.WriteString("/" + scan.Escape(fmt.Sprint(step)))
		}
		return b.String()
	}
	return ""
}

// lookup returns the value at a JSON pointer.
func lookup(val any, pointer string) (any, bool) {
	if pointer == "" {
		return val, val != nil
	}
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := val.(type) {
		case map[string]any:
			next, ok := in[scan.Unescape(token)]
			if !ok {
				return nil, false
			}
			val = next
		case []any:
			i := -1
			if _, err := fmt.Sscanf(token, "%d", &i); err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			val = in[i]
		default:
			return nil, false
		}
	}
	return val, true
}

// maxGot bounds, in bytes, what a finding shows of a value.
const maxGot = 80

// brief returns a value on one line, shortened.
func brief(val any) string {
	b, err := jq.Encode(val)
	if err != nil {
		return ""
	}
	if len(b) <= maxGot {
		return string(b)
	}
	end := maxGot
	for end > 0 && !utf8.RuneStart(b[end]) {
		end--
	}
	return string(b[:end]) + "…"
}
