// Package player plays one side of a tape against a live peer: the server, for
// whoever calls (Server), or the client, against a server that is to be checked
// (Client). It speaks in messages: connections are given to it.
package player

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/match"
)

// Options say how a tape is played. The zero value is usable.
type Options struct {
	Strict bool    // a request must be the next one on the tape
	Speed  float64 // 1 keeps the recorded pace, 2 is twice as fast; 0: no waiting at all
	// Set are values for redacted members of our lines, by the member's name, and
	// for $name in a tape's programs.
	Set map[string]json.RawMessage
	// Patience bounds how long Client waits for a message that the tape has; 0: 10
	// s.
	Patience time.Duration
	// Linger is how long Client waits, after all that is on the tape, for messages
	// that are not; 0: 50 ms.
	Linger time.Duration
	// Found gets each Finding: from Client at its end, in the order of the tape; from
	// Server as they come, from one goroutine. May be nil.
	Found func(Finding)
	Tap   wire.Tap // is shown each live message; nil: nobody looks
}

// A Finding is one place in which a conversation is not as the tape has it.
type Finding struct {
	Kind    FindingKind
	Line    int             // of the tape; of what is Extra or Unknown: the line that is nearest to it or before it; 0: none
	Method  string          // of the message, or of the request that it answers; "": none
	Pointer string          // where in the message; "" is the whole of it
	Want    json.RawMessage // what the tape has; nil: nothing
	Got     json.RawMessage // what came; nil: nothing
	Text    string          // more words; "": none
}

// A FindingKind is the kind of a Finding.
type FindingKind string

// The kinds of Finding.
const (
	Differs FindingKind = "differs" // a message has another value at Pointer
	Missing FindingKind = "missing" // a message of the tape did not come
	Extra   FindingKind = "extra"   // a message came that is not on the tape
	Unknown FindingKind = "unknown" // a request came that is not on the tape, and was refused
)

// findings makes a Finding of each difference.
func findings(line int, method string, all []match.Difference) []Finding {
	found := make([]Finding, len(all))
	for i, d := range all {
		found[i] = Finding{Kind: Differs, Line: line, Method: method, Pointer: d.Pointer, Want: d.Want, Got: d.Got}
	}
	return found
}

// String returns the finding in words, without the name of the tape.
func (f Finding) String() string {
	where := f.Method
	if f.Line > 0 {
		where = fmt.Sprintf("line %d", f.Line)
		if f.Method != "" {
			where += " (" + f.Method + ")"
		}
	}
	switch f.Kind {
	case Missing:
		return where + " did not come"
	case Extra:
		if f.Line > 0 {
			return "after line " + strconv.Itoa(f.Line) + " came what the tape has not: " + short(f.Got)
		}
		return "what the tape has not: " + short(f.Got)
	case Unknown:
		return f.Method + " is not on the tape: " + f.Text
	}
	if f.Text != "" {
		return where + ": " + f.Text + ": " + short(f.Got)
	}
	return fmt.Sprintf("%s: %s is %s in place of %s", where, pointerText(f.Pointer), short(f.Got), short(f.Want))
}

// short returns a value, cut.
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
