// Package tapeview shows a tape to people: as text in two lanes, as a page for a browser, and as a HAR file for a
// browser's network panel.
//
// It reads a tape once, from start to end. Each line becomes one Row, and a batch several. A row refers only to earlier
// rows (to the call of a response, and for nesting), which allows printing during reading.
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
// Everything on a tape is from a peer or from the author of the file. Therefore it is redacted again, control
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

// These are the kinds of rows. A Broken row is not JSON, or does not have the form of a message.
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

// String returns the kind in lower case, its name in the page.
func (k Kind) String() string { return kindNames[k] }

// isMessage reports whether a row of this kind is a message.
func (k Kind) isMessage() bool { return k <= Broken }

// A Row is a message of a tape or another event. Its slices are valid until the next row is read.
type Row struct {
	Number int // the row number, from 1
	Line   int // the line in the file
	Kind   Kind
	Time   time.Duration  // the time since the start of the tape
	Gap    time.Duration  // the time since the previous row
	Conn   int            // the connection, if there are several
	Dir    wire.Direction // the direction from the sender, or from the side that ended the connection; Send is from the recorded client
	Depth  int            // the number of open calls around the message

	Name   string          // the method; for a response, the method of its call; for an item, its own method or the method of the call
	ID     string          // the id in the message, or an item's stream
	Of     int             // the Number of the call of a response or item, or 0
	Took   time.Duration   // of a response: the time since its call
	Failed bool            // whether the message is or reports an error
	Final  bool            // no more items follow
	Text   string          // the text of a row without a message, or the reason of a Broken one
	Body   json.RawMessage // the params, the result, the error or the item, or nil
	Raw    []byte          // the whole message as redacted text, or nil
	Bytes  []byte          // a message that is not text, as on the wire, or nil
	Valid  bool            // Raw is JSON

	Event // for a row without a message
}

// An Event is the tape's description of an exchange or an opening. Both members are nil for other rows.
type Event struct {
	HTTP *tape.HTTP // for an Exchange
	Open *tape.Open // for an Opening
}

// Options select rows.
type Options struct {
	// Own returns a reader for the messages of a dialect with its own form, or nil.
	Own func(dialect string) func(msg []byte) wire.Message

	// JQ selects the messages for which it is true. nil selects all.
	JQ *jq.Program
	// Grep selects the messages whose method or text matches. nil selects all.
	Grep *regexp.Regexp
}
