package match

import (
	"encoding/json"
	"fmt"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// A Difference is a place where a conversation differs from the tape.
type Difference struct {
	Kind    DifferenceKind
	Line    int             // the line on the tape, or 0; for Extra the preceding line, and for Unknown the nearest line
	Method  string          // the method of the message or, for a response, of its request; or ""
	Pointer string          // the JSON pointer into the message; "" refers to the whole message
	Want    json.RawMessage // the recorded value, or nil
	Got     json.RawMessage // the received value, or nil
	Text    string          // an explanation, or ""

	Moved *Moved // nil if the members or elements beside the value are at their recorded places
}

// A Moved describes how the object or array around a value changed.
type Moved struct {
	To     string          // the pointer to the value in the received message, if its name or index has changed, or ""
	Around json.RawMessage // the object or array in the received message
}

func (d Difference) renamed() bool { return d.Moved != nil && d.Moved.To != "" }

// Placed reports whether Pointer locates the difference. If it does not, only Text describes the difference.
func (d Difference) Placed() bool { return d.Text == "" || d.renamed() }

type DifferenceKind string

// A difference has one of these kinds.
const (
	Differs DifferenceKind = "differs" // the values at Pointer differ
	Missing DifferenceKind = "missing" // a message on the tape did not arrive
	Extra   DifferenceKind = "extra"   // a message arrived although it is not on the tape
	Unknown DifferenceKind = "unknown" // a request arrived that is not on the tape, and rpcx rejected it
)

// String describes the difference, without the name of the tape.
func (d Difference) String() string {
	where := d.Method
	if d.Line > 0 {
		where = fmt.Sprintf("line %d", d.Line)
		if d.Method != "" {
			where += " (" + d.Method + ")"
		}
	}
	switch d.Kind {
	case Missing:
		if d.Text != "" {
			return where + " was not received: " + d.Text
		}
		return where + " was not received"
	case Extra:
		if d.Line > 0 {
			return "after line " + strconv.Itoa(d.Line) + ", not on the tape: " + short(d.Shown(d.Got))
		}
		return "not on the tape: " + short(d.Shown(d.Got))
	case Unknown:
		return d.Method + " is not on the tape: " + d.Text
	}
	if d.renamed() {
		return where + ": " + d.Place() + " is " + d.Text
	}
	if d.Text != "" {
		return where + ": " + d.Text + ": " + short(d.Shown(d.Got))
	}
	if d.Got == nil {
		return fmt.Sprintf("%s: %s is missing (expected %s)", where, d.Place(), short(d.Shown(d.Want)))
	}
	if d.Want == nil {
		return fmt.Sprintf("%s: %s is unexpected: %s", where, d.Place(), short(d.Shown(d.Got)))
	}
	return fmt.Sprintf("%s: %s is %s instead of %s", where, d.Place(), short(d.Shown(d.Got)), short(d.Shown(d.Want)))
}

// Shown returns val, which is Want or Got, with placeholders for secrets.
func (d Difference) Shown(val json.RawMessage) json.RawMessage {
	switch {
	case val == nil:
		return nil
	case scan.Type(val) == 's' && redact.SecretName(nameOf(d.Pointer)):
		return scan.AppendQuoted(nil, redact.Mark)
	}
	return redact.JSON(val)
}

// Place describes where Pointer leads.
func (d Difference) Place() string {
	if d.Pointer == "" {
		return "the whole message"
	}
	return d.Pointer
}

func short(v json.RawMessage) string { return wire.Excerpt(v, 120) }
