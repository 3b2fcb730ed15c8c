// Package player plays one side of a tape against a live peer: the server, for
// any client (Server), or the client, against a server that is to be checked
// (Client). It works on messages; the caller opens the connections.
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
	Speed  float64 // 1 keeps the recorded pace, 2 is twice as fast; 0: no waiting
	// Set has values for the redacted members of lines that we send, by the
	// member's name, and for $name in a tape's programs.
	Set map[string]json.RawMessage
	// AnswerTimeout bounds how long Client waits for a message that the tape has; 0: 10
	// s.
	AnswerTimeout time.Duration
	// Linger is how long Client waits for further messages after everything on
	// the tape; 0: 50 ms.
	Linger time.Duration
	// Found is called with each Finding: by Client at its end, in the order of
	// the tape; by Server as they come, from one goroutine. May be nil.
	Found func(Finding)
	Tap   wire.Tap // sees each live message; may be nil
}

// A Finding is one difference between a conversation and the tape.
type Finding struct {
	Kind    FindingKind
	Line    int             // of the tape; for Extra and Unknown the nearest line, or the one before; 0: none
	Method  string          // of the message, or of the request that it answers; "": none
	Pointer string          // a JSON pointer into the message; "" is the whole message
	Want    json.RawMessage // the recorded value; nil: none
	Got     json.RawMessage // the value that came; nil: none
	Text    string          // further explanation; "": none
}

// A FindingKind is the kind of a Finding.
type FindingKind string

// The kinds of Finding.
const (
	Differs FindingKind = "differs" // a message has another value at Pointer
	Missing FindingKind = "missing" // a message on the tape did not come
	Extra   FindingKind = "extra"   // a message came that is not on the tape
	Unknown FindingKind = "unknown" // a request came that is not on the tape; it was refused
)

// findings returns a Finding for each difference.
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
