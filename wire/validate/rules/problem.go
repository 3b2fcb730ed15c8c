package rules

import (
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/validate"
)

// problem returns the problem that an output of r's program describes. It returns nil if the problem concerns a secret,
// because the tape does not contain the secret.
func (c *Checker) problem(v *view, r *Rule, out any) []validate.Problem {
	p := validate.Problem{Rule: r.Name, Level: r.Level, Line: v.line.Number, From: v.from, Message: r.Sentence}
	m, ok := out.(map[string]any)
	if !ok {
		m = map[string]any{"at": out}
	}
	at := pointer(m["at"])
	if n, ok := jq.Number(m["n"]); ok {
		p.Line = int(n)
	}
	text := func(member, otherwise string) string {
		if s, ok := m[member].(string); ok {
			return s
		}
		return otherwise
	}
	p.From = text("from", p.From)
	p.Section = validate.SectionOf(r.Page, text("section", r.Section))
	if want := text("want", r.Sentence); want != r.Sentence {
		p.Expected = want
	}
	if got, ok := m["got"]; ok {
		p.Got = brief(got)
	}
	if p.Got == "" && p.Line == v.line.Number {
		got, known := v.at(at)
		if !known {
			return nil
		}
		p.Got = got
	}
	p.Pointer = validate.Place(v.prefix + at)
	return []validate.Problem{p}
}

// at returns the value at a pointer into the message. known is false if the tape has a replacement for the value, such
// as that of a secret.
func (v *view) at(pointer string) (got string, known bool) {
	val, there := scan.Lookup(v.val["msg"], pointer)
	text, _ := val.(string)
	_, redacted := redact.IsMark(text)
	switch {
	case redacted, v.line.Vars && strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}"): // a secret, or a variable
		return "", false
	case !there && pointer != "":
		return "nothing", true
	case pointer != "":
		return brief(val), true
	case v.val["text"] != nil:
		return brief(v.val["text"]), true
	}
	return "", true
}

// pointer returns a place as a JSON pointer. The place can also be a path, as an array.
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

// maxGot is the maximum length of an excerpt from a value in a problem, in bytes.
const maxGot = 80

// brief returns a value on one line, shortened if necessary.
func brief(val any) string { return wire.Excerpt(jq.Encode(val), maxGot) }
