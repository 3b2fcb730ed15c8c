// Package tapeview shows a tape to people: as text in two lanes, as a page for a
// browser, and as a HAR file for a browser's network panel.
//
// It reads a tape once, from beginning to end. Each line becomes one Row, and a batch several. A row refers only to
// earlier rows (for the call of an answer, and for the nesting), so that a tape of any length can be printed while it
// is read.
//
//	tapeview.go has Row and Options
//	shape.go determines the kind of a message, in any dialect
//	rows.go converts lines to rows
//	thread.go matches calls and answers, and determines nesting and streams
//	choose.go implements --jq and --grep
//	show.go, lanes.go, fold.go make the text
//	html.go, page.html make the page
//	har.go, harentry.go, hartypes.go make the HAR file
//
// Everything on a tape is from a peer, or from the author of the file. So it is redacted again, control characters
// never reach a terminal, and the page uses it only as text.
package tapeview

import (
	"encoding/json"
	"regexp"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/tape"
)

// A Kind is the kind of a row.
type Kind uint8

// These are the kinds of rows. A Broken row is something that is not a message: it is not JSON, or does not have the
// form of a message.
const (
	Call Kind = iota
	Notification
	Answer
	Item
	Handshake
	Broken
	Opening
	Closing
	Exchange
	Note
)

var kindNames = [...]string{"call", "notification", "answer", "item", "greeting", "broken", "open", "close", "http", "note"}

// String returns the kind in lower case, which is also its name in the page.
func (k Kind) String() string { return kindNames[k] }

// isMessage reports whether a row of this kind crossed the wire.
func (k Kind) isMessage() bool { return k <= Broken }

// A Row is a message of a tape, or another event. Its slices are valid until
// the next row is read.
type Row struct {
	Number int            // the number of the row, from 1
	Line   int            // its line in the file
	Kind   Kind           // the kind of the row
	Time   time.Duration  // the time since the tape began
	Gap    time.Duration  // the time since the previous row
	Conn   int            // the connection, if there are several
	Dir    wire.Direction // the direction from its sender, or from the side that ended the connection; Send is the recorded client's
	Depth  int            // the number of open calls in which it is nested

	Name   string          // the method; an answer has its call's, and an item the method of the call that opened its stream, or else its own
	ID     string          // the id in the message; of an item, its stream
	Of     int             // of an answer or item: the Number of its call; 0 if unknown
	Took   time.Duration   // of an answer: the time since its call
	Failed bool            // it is an error, or reports one
	Final  bool            // no more items follow
	Text   string          // the text of a row without a message; of a Broken one, the reason
	Body   json.RawMessage // the params, the result, the error or the item, or nil
	Raw    []byte          // the whole message as text, redacted; nil if there is none
	Bytes  []byte          // a message that is not text, as on the wire; else nil
	Valid  bool            // Raw is JSON

	Event // for a row without a message
}

// An Event is the tape's description of an exchange or an opening; both members are nil for other rows.
type Event struct {
	HTTP *tape.HTTP // for an Exchange
	Open *tape.Open // for an Opening
}

// Options determine which rows are shown.
type Options struct {
	// Own returns a reader for the messages of a dialect with its own spelling, or nil if the dialect has none.
	Own func(dialect string) func(msg []byte) wire.Message

	// JQ selects the messages for which it is true. nil selects all.
	JQ *jq.Program
	// Grep selects the messages that match in their method or text. nil selects all.
	Grep *regexp.Regexp
}
