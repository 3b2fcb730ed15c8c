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
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/tape"
)

// A Kind says what a row is.
type Kind uint8

// The kinds of row. Broken is what is no message: no JSON, or none of the
// shapes that messages have.
const (
	Call Kind = iota
	Notification
	Answer
	Item
	Greeting
	Broken
	Opening
	Closing
	Exchange
	Note
)

var kindNames = [...]string{"call", "notification", "answer", "item", "greeting", "broken", "open", "close", "http", "note"}

// String returns the kind in lower case, as the page calls it.
func (k Kind) String() string { return kindNames[k] }

// isMessage reports whether a row of this kind crossed the wire.
func (k Kind) isMessage() bool { return k <= Broken }

// A Row is one message of a tape, or something else that happened. Its bytes are
// valid until the next row is read.
type Row struct {
	Number int            // of the row, from 1
	Line   int            // its line in the file
	Kind   Kind           //
	Time   time.Duration  // since the tape began
	Gap    time.Duration  // since the row before
	Conn   int            // which connection, where there are several
	Dir    wire.Direction // who sent it, or ended the connection, seen from the recorded client
	Depth  int            // how many open calls it is nested in

	Name   string          // the method: of an answer, that of its call; of an item, that of its stream's call or its own
	ID     string          // the id as it stands in the message, or the stream of an item
	Of     int             // the Number of the call that an answer, or an item, belongs to; 0: not known
	Took   time.Duration   // of an answer: the time since its call
	Failed bool            // it is an error, or says that something went wrong
	Final  bool            // no more items follow
	Text   string          // what stands in place of a body, for rows that are no message; or why a message is Broken
	Body   json.RawMessage // the params, the result, the error or the item; nil: none
	Raw    []byte          // the whole message, redacted and as text; for other rows nil
	Bytes  []byte          // what was no text, as it crossed the wire; else nil
	Valid  bool            // Raw is JSON

	Event // of a row that is no message
}

// An Event is what happened beside the messages; nil: something else.
type Event struct {
	HTTP *tape.HTTP // of an Exchange
	Open *tape.Open // of an Opening
}

// Options say which rows are wanted.
type Options struct {
	// JQ keeps the messages that make it true. nil: all.
	JQ *jq.Program
	// Grep keeps what it finds a match in: a method's name or a message's text.
	// nil: all.
	Grep Matcher
}

// A Matcher finds a text, as a *regexp.Regexp does.
type Matcher interface {
	Match(b []byte) bool
	MatchString(s string) bool
}
