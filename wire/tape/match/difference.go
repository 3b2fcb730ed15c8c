package match

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"rpcx/wire/scan"
	"rpcx/wire/tape"
)

// A Difference is one place in which a conversation differs from the tape.
type Difference struct {
	Kind    DifferenceKind
	Line    int             // of the tape; for Extra and Unknown the nearest or the preceding line; 0: unknown
	Method  string          // of the message, or of the request that it answers; "" if unknown
	Pointer string          // a JSON pointer into the message; "" is the whole message
	Want    json.RawMessage // the recorded value, or nil
	Got     json.RawMessage // the received value, or nil
	Text    string          // further explanation, or ""

	Moved *Moved // nil if the enclosing value has its other parts at their recorded places
}

// A Moved describes how the object or array around a value has changed.
type Moved struct {
	To     string          // the pointer to the value in the received message if its name or index differs; "" otherwise
	Around json.RawMessage // the received object or array
}

// renamed reports whether the value was received under another name or index.
func (d Difference) renamed() bool { return d.Moved != nil && d.Moved.To != "" }

// Placed reports whether Pointer locates the difference; otherwise only Text describes it.
func (d Difference) Placed() bool { return d.Text == "" || d.renamed() }

// A DifferenceKind is the kind of a Difference.
type DifferenceKind string

// The kinds of Difference.
const (
	Differs DifferenceKind = "differs" // a message has another value at Pointer
	Missing DifferenceKind = "missing" // a message on the tape was not received
	Extra   DifferenceKind = "extra"   // a received message is not on the tape
	Unknown DifferenceKind = "unknown" // a received request is not on the tape, and was refused
)

// String returns the difference in words, without the name of the tape.
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
			return where + " did not come: " + d.Text
		}
		return where + " did not come"
	case Extra:
		if d.Line > 0 {
			return "after line " + strconv.Itoa(d.Line) + " came what the tape has not: " + short(d.Shown(d.Got))
		}
		return "what the tape has not: " + short(d.Shown(d.Got))
	case Unknown:
		return d.Method + " is not on the tape: " + d.Text
	}
	if d.renamed() {
		return where + ": " + d.Place() + " is " + d.Text
	}
	if d.Text != "" {
		return where + ": " + d.Text + ": " + short(d.Shown(d.Got))
	}
	return fmt.Sprintf("%s: %s is %s in place of %s", where, d.Place(), short(d.Shown(d.Got)), short(d.Shown(d.Want)))
}

// Shown returns Want or Got without secrets.
func (d Difference) Shown(val json.RawMessage) json.RawMessage {
	return tape.Shown(scan.Unescape(d.Pointer[strings.LastIndexByte(d.Pointer, '/')+1:]), val)
}

// Place returns the pointer in words.
func (d Difference) Place() string {
	if d.Pointer == "" {
		return "the whole message"
	}
	return d.Pointer
}

// short returns the beginning of a value.
func short(v json.RawMessage) string {
	const most = 120
	switch {
	case v == nil:
		return "nothing"
	case len(v) > most:
		return strings.ToValidUTF8(string(v[:most]), "") + "…"
	}
	return string(v)
}
