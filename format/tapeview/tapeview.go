// Package tapeview shows a tape to people: as text in two lanes, as a page for a
// browser, and as a HAR file for a browser's network panel.
//
// A tape is read once, from beginning to end. Each of its lines becomes one Row,
// a batch several; what a row says of other rows (the call that an answer
// belongs to, how deep it is nested) only looks back, so that a tape of any
// length can be printed while it is read.
//
//	tapeview.go   Row, Options
//	shape.go      what kind of message a JSON value is, in any dialect
//	rows.go       lines into rows
//	thread.go     calls and their answers, nesting, streams
//	choose.go     --jq and --grep
//	show.go, lanes.go, fold.go   the text
//	html.go, page.html           the page
//	har.go, harentry.go, hartypes.go   the HAR file
//
// Everything on a tape came from a peer, or from whoever wrote the file: it is
// redacted again, nothing of it reaches a terminal as a command, and the page
// takes it as text only.
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

// The kinds of rows. A Broken row holds something that is not a message: it is
// not JSON, or has no shape that messages have.
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
	Number int            // of the row, from 1
	Line   int            // its line in the file
	Kind   Kind           // what it is
	Time   time.Duration  // since the tape began
	Gap    time.Duration  // since the previous row
	Conn   int            // the connection, if there are several
	Dir    wire.Direction // of its sender, or of who ended the connection; Send is the recorded client
	Depth  int            // in how many open calls it is nested

	Name   string          // the method; of an answer, its call's; of an item, that of the call that opened its stream, or its own
	ID     string          // the id as in the message; of an item, its stream
	Of     int             // of an answer or item: the Number of its call; 0 means not known
	Took   time.Duration   // of an answer: the time since its call
	Failed bool            // it is an error, or reports one
	Final  bool            // no more items follow
	Text   string          // the text of a row without a message; of a Broken one, what is wrong with it
	Body   json.RawMessage // the params, the result, the error or the item, or nil
	Raw    []byte          // the whole message as text, redacted; nil means there is none
	Bytes  []byte          // a message that is not text, as it crossed the wire; else nil
	Valid  bool            // Raw is JSON

	Event // of a row without a message
}

// An Event is the tape's description of an exchange or an opening; both members are nil for other rows.
type Event struct {
	HTTP *tape.HTTP // of an Exchange
	Open *tape.Open // of an Opening
}

// Options say which rows are shown.
type Options struct {
	// Own returns what reads the messages of a dialect that spells them in its own way, or nil for one that does not.
	Own func(dialect string) func(msg []byte) wire.Message

	// JQ selects the messages for which it is true. nil: all.
	JQ *jq.Program
	// Grep selects the messages in whose method or text it finds a match. nil:
	// all.
	Grep *regexp.Regexp
}
