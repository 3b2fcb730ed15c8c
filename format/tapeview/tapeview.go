// Package tapeview shows a tape in human-readable form: as text in two lanes, as a page for browsers, and as a HAR file
// for the network panels of browsers.
//
// It reads a tape once, from start to end. Each line becomes one Row, but a batch becomes several. A row depends only
// on earlier rows (a response on its call, and the nesting on open calls), so rows can be printed while the tape is
// read.
//
//	tapeview.go     Row and Options
//	shape.go        the kind of a message, in any dialect
//	rows.go         the conversion of lines to rows
//	thread.go       which call a response belongs to, nesting and streams
//	rowfilter.go    --jq and --grep
//	show.go, lanes.go, fold.go         the text
//	html.go, page/                     the page
//	har.go, harentry.go, hartypes.go   the HAR file
//
// Everything on a tape comes from a peer or from the author of the file. It is therefore redacted again, control
// characters never reach a terminal, and the page uses it only as text.
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

// A Broken row is not JSON, or does not have the form of a message.
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

var kindNames = [...]string{"call", "notification", "response", "item", "greeting", "broken", "open", "close", "http", "note"}

// String returns the kind in lower case, which is its name on the page.
func (k Kind) String() string { return kindNames[k] }

// isMessage reports whether a row of this kind is a message.
func (k Kind) isMessage() bool { return k <= Broken }

// A Row is a message on a tape, or another event. Its slices are valid until the next row is read.
type Row struct {
	Number int // the number of the row, from 1
	Line   int // the line number in the file
	Kind   Kind
	Time   time.Duration  // the time since the start of the tape
	Gap    time.Duration  // the time since the previous row
	Conn   int            // the number of the connection, if there are several
	Dir    wire.Direction // the direction of the message; Send is from the recorded client. For a Closing, it depends on which side ended the connection
	Depth  int            // the number of open calls inside which the message is shown

	Name   string          // the method; for a response, that of its call; for an item, its own or that of the call
	ID     string          // the id of the message, or of the stream of an item
	Of     int             // the Number of the row with the call of a response or item, or 0
	Took   time.Duration   // for a response, the time since its call
	Failed bool            // whether the message is, or reports, an error
	Final  bool            // no more items follow
	Text   string          // the text of a row without a message, or why a row is Broken
	Body   json.RawMessage // the params, the result, the error or the item, or nil
	Raw    []byte          // the whole message as text, redacted, or nil
	Bytes  []byte          // the bytes of a message that is not text, or nil
	Valid  bool            // Raw is JSON

	Event // for a row without a message
}

// An Event contains what the tape has recorded about an exchange or an opening. Both members are nil for other rows.
type Event struct {
	HTTP *tape.HTTP // for an Exchange
	Open *tape.Open // for an Opening
}

// Options determine which rows are shown.
type Options struct {
	// Own returns a function that reads the messages of a dialect with its own form of messages, or nil.
	Own func(dialect string) func(msg []byte) wire.Message

	// JQ selects the messages for which it yields true. nil selects all.
	JQ *jq.Program
	// Grep selects the messages whose method or text matches. nil selects all.
	Grep *regexp.Regexp
}
