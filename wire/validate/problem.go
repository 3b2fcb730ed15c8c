// Package validate defines the problem, which all checks in the packages below it report.
package validate

import "rpcx/wire/schema"

// A Level is the strength of a rule.
type Level string

// The levels of rules, in the words of RFC 2119.
const (
	Must   Level = "must"
	Should Level = "should"
)

// A Place is a JSON pointer; "" is the whole.
type Place string

// Nowhere is the place of a problem without one.
const Nowhere Place = "-"

// IsZero reports whether there is no place.
func (p Place) IsZero() bool { return p == Nowhere }

// A Problem is one thing that is wrong, or that differs from an older catalog. Its JSON form is printed on stdout.
type Problem struct {
	Source   string          `json:"source"`             // the file or the peer
	Line     int             `json:"line,omitempty"`     // the line of the file; 0 for none
	Dir      string          `json:"dir,omitempty"`      // send or recv if it is about a message of a conversation; "" means it is not, or that is not known
	Number   int             `json:"number,omitempty"`   // the number of that message in its conversation, from 1
	Rule     string          `json:"rule"`               // what is violated: a keyword of JSON Schema or a rule of a dialect; or the kind of a difference
	Level    Level           `json:"level,omitempty"`    // of the rule; of a difference its class
	Section  string          `json:"section,omitempty"`  // the source of the rule: a place in a schema, or a section of the dialect's specification
	Method   string          `json:"method,omitempty"`   // "" for none, or several
	Pointer  Place           `json:"pointer,omitzero"`   // the place in the value, the message or the catalog
	In       string          `json:"in,omitempty"`       // "old" if Pointer is one into the older catalog
	Message  string          `json:"message"`            // the problem, and the expected value
	Expected string          `json:"expected,omitempty"` // the expected value, if Message does not contain it
	Sent     string          `json:"sent,omitempty"`     // the message to which the peer answered, or ""
	Got      string          `json:"got,omitempty"`      // the actual value; "" if there is none, or if Message contains it
	Branches []schema.Branch `json:"branches,omitempty"`
	From     string          `json:"-"` // who broke the rule: "client" or "server"; "" means not known
	Warning  bool            `json:"-"` // it does not make the check fail
}

// SectionOf returns the words for a section of a page.
func SectionOf(page, section string) string {
	if page == "" {
		return section
	}
	return page + ": " + section
}
