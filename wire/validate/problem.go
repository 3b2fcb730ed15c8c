// Package validate defines Problem, the form in which all packages below it report problems.
package validate

import "rpcx/wire/schema"

// A Level is the strength of a rule.
type Level string

// The levels of RFC 2119.
const (
	Must   Level = "must"
	Should Level = "should"
)

// A Place is a JSON pointer. "" is the whole value.
type Place string

// Nowhere is the Place of a problem that does not concern a single value.
const Nowhere Place = "-"

// IsZero reports whether p is Nowhere.
func (p Place) IsZero() bool { return p == Nowhere }

// A Problem is a violation of a rule, or a difference from an older catalog. rpcx prints it on stdout as JSON.
type Problem struct {
	Source   string          `json:"source"`             // the file or the peer
	Line     int             `json:"line,omitempty"`     // the line in the file, or 0
	Dir      string          `json:"dir,omitempty"`      // "send" or "recv" if the problem concerns a message whose direction is known, otherwise ""
	Number   int             `json:"number,omitempty"`   // the number of that message in its conversation, from 1
	Rule     string          `json:"rule"`               // the violated rule (a JSON Schema keyword or a rule of a dialect), or the kind of difference
	Level    Level           `json:"level,omitempty"`    // the level of the rule, or the class of difference
	Section  string          `json:"section,omitempty"`  // where the rule comes from: a place in a schema, or a section of the dialect's specification
	Method   string          `json:"method,omitempty"`   // "" if the problem concerns no method, or several
	Pointer  Place           `json:"pointer,omitzero"`   // the place in the value, the message or the catalog
	In       string          `json:"in,omitempty"`       // "old" if Pointer refers to the older catalog
	Message  string          `json:"message"`            // what is wrong, and the expected value
	Expected string          `json:"expected,omitempty"` // the expected value, if Message does not contain it
	Sent     string          `json:"sent,omitempty"`     // the message to which the peer responded, or ""
	Got      string          `json:"got,omitempty"`      // the actual value, or "" if Message contains it
	Branches []schema.Branch `json:"branches,omitempty"`
	From     string          `json:"-"` // the side that broke the rule, "client" or "server", or ""
	Warning  bool            `json:"-"` // the check passes despite the problem
}

// SectionOf returns the text that names a section of a document.
func SectionOf(page, section string) string {
	if page == "" {
		return section
	}
	return page + ": " + section
}
