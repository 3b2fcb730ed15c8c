// Package validate has the problem, which is what all checks below it report.
package validate

import (
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// A Level says how strong a rule is.
type Level string

// The levels of rules, in the words of RFC 2119.
const (
	Must   Level = "must"
	Should Level = "should"
)

// A Problem is one thing that is wrong, or that differs from an older catalog.
type Problem struct {
	Source   string // the file or the peer
	Line     int    // of the file; 0: none
	Dir      string // send or recv if it is about a message of a conversation; "": it is not, or that is not known
	Number   int    // the number of that message in its conversation, from 1
	From     string // who broke the rule: "client" or "server"; "": not known
	Rule     string // what is violated: a keyword of JSON Schema, a rule of a dialect; or the kind of a difference
	Level    Level  // of the rule; of a difference its class
	Section  string // where the rule is written: a place in a schema, a section of the dialect's page
	Method   string // "": none, or several
	Pointer  string // the place in the value, the message or the catalog
	Old      bool   // Pointer is one into the older catalog
	Whole    bool   // an empty Pointer means the whole value, not that there is no place
	Message  string // what is wrong, and what was expected
	Expected string // what was expected, if Message does not say it
	Sent     string // the message to which the peer answered; "": none
	Got      string // what came; "": nothing came, or Message says it
	Branches []schema.Branch
	Warning  bool // it does not make the check fail
}

// SectionOf returns the words for a section of a page.
func SectionOf(page, section string) string {
	if page == "" {
		return section
	}
	return page + ": " + section
}

// JSON returns the problem as it is printed on stdout.
func (p *Problem) JSON() []byte {
	var o scan.Object
	o.Text("source", p.Source)
	if p.Line > 0 {
		o.Int("line", int64(p.Line))
	}
	o.SomeText("dir", p.Dir)
	if p.Number > 0 {
		o.Int("number", int64(p.Number))
	}
	o.Text("rule", p.Rule)
	o.SomeText("level", string(p.Level))
	o.SomeText("section", p.Section)
	o.SomeText("method", p.Method)
	if p.Whole || p.Pointer != "" {
		o.Text("pointer", p.Pointer)
	}
	if p.Old {
		o.Text("in", "old")
	}
	o.Text("message", p.Message)
	o.SomeText("expected", p.Expected)
	o.SomeText("sent", p.Sent)
	o.SomeText("got", p.Got)
	o.Add("branches", branches(p.Branches))
	return o.End()
}

// branches returns the alternatives of a oneOf or anyOf as JSON, the nearest first.
func branches(all []schema.Branch) []byte {
	var list scan.Array
	for _, b := range all {
		var found scan.Array
		for _, m := range b.Mismatches {
			var o scan.Object
			o.Text("rule", m.Rule)
			o.SomeText("section", m.Schema)
			o.Text("pointer", m.Pointer)
			o.Text("message", m.Message)
			o.Add("branches", branches(m.Branches))
			found.Add(o.End())
		}
		var o scan.Object
		o.Int("number", int64(b.Number))
		o.SomeText("name", b.Name)
		o.Add("findings", found.End())
		list.Add(o.End())
	}
	return list.EndOrNil()
}
