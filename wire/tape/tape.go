// Package tape reads and writes tapes: recorded conversations, NDJSON files
// with a header and then a line for each message, opening, close, HTTP exchange
// and note. The manual describes the format in rpcx-tape(5).
//
// A Reader reads a tape line by line in constant memory; a Writer writes one
// while a conversation runs. Playing one side of a tape, comparing and showing
// tapes are other packages' work.
package tape

import (
	"bytes"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// Version is the version of the format that this package reads and writes.
const Version = 1

// Redacted replaces a secret in a tape, followed by a number that equal secrets share. It equals any value when tapes are
// compared.
const Redacted = redact.Mark

// SecretNumber reports whether a string replaces a secret, and its number; 0: none.
func SecretNumber(text string) (number int, is bool) { return redact.IsMark(text) }

// IsRedacted reports whether a JSON value replaces a secret.
func IsRedacted(val []byte) bool {
	if len(val) < len(Redacted)+2 || val[0] != '"' || string(val[1:1+len(Redacted)]) != Redacted {
		return false
	}
	_, is := redact.IsMark(string(val[1 : len(val)-1]))
	return is
}

// MayBeRedacted reports whether a message may hold a value that replaces a secret. It is fast.
func MayBeRedacted(msg []byte) bool { return bytes.Contains(msg, redacted) }

var redacted = []byte(`"` + Redacted)

// A Header is the first line of a tape.
type Header struct {
	Endpoint string    // the peer, redacted; "" means not said
	Dialect  string    // "" means jsonrpc
	Started  time.Time // when Line.Time was 0; the zero time: not said
	Program  string    // the version of rpcx that recorded it; "" means not said
}

// A Kind is the kind of a line of a tape.
type Kind uint8

// The kinds of line.
const (
	Message  Kind = iota // a message, or a condition for one (Match)
	Opening              // a connection was opened
	Closing              // a connection ended
	Exchange             // an HTTP exchange: its request and the head of its response
	Note                 // words for people only
)

var kindNames = [...]string{"message", "open", "close", "http", "note"}

// String returns the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

// A Line is one line of a tape after its header. Its Kind decides which members
// apply.
type Line struct {
	Number int            // its number in the file; the header is line 1. 0 means not from a file
	Kind   Kind           // which of the members below apply
	Time   time.Duration  // since Header.Started; a line without a time has that of the line before
	Conn   int            // the connection that it belongs to; 0 means the only one
	Dir    wire.Direction // of a Message; of a Closing, of who ended the connection. Send is the client's side

	// Msg or Bytes is a message as it crossed the wire: Msg if it was JSON, else Bytes. If both are nil, Match describes the
	// message.
	Msg    json.RawMessage
	Bytes  []byte
	Binary bool // it crossed as a binary message of a WebSocket

	// What people add to a message, or write in its place.
	Match string    // a jq program that must be true for the message at this place, or ""
	Bind  []Binding // names for values of the message at this place, for later lines; sorted by name
	Vars  bool      // "${name}" inside the strings of Msg stands for a bound value
	Name  string    // the name by which an answer refers to this request (Re), or ""
	Re    string    // the Name of the request that this answers; "" means the message's id says it

	Open  *Open  // of an Opening
	Close *Close // of a Closing
	HTTP  *HTTP  // of an Exchange
	Note  string // of a Note; of any other line, what people wrote beside it
}

// A Binding gives a name to a value of a message.
type Binding struct {
	Name  string // as in $name
	Value string // the jq program whose first output is the value
}

// Payload returns the message as it crossed the wire, Msg or Bytes, or nil if there is only Match.
func (l *Line) Payload() []byte {
	if l.Msg != nil {
		return l.Msg
	}
	return l.Bytes
}

// An Open says how a connection was opened.
type Open struct {
	Endpoint    string `json:"endpoint,omitempty"`    // the address that was dialled or that listened; redacted
	From        string `json:"from,omitempty"`        // the client's address, if a listener knows it
	Subprotocol string `json:"subprotocol,omitempty"` // the WebSocket subprotocol agreed on
	Reconnect   bool   `json:"reconnect,omitempty"`   // it replaces a connection that was lost
}

// A Close says how a connection ended.
type Close struct {
	Code   int         `json:"code,omitempty"`   // the WebSocket close code; 0 means none
	Reason string      `json:"reason,omitempty"` // the reason given, or ""
	Clean  bool        `json:"clean,omitempty"`  // it ended as the transport wants it, not by an error
	Error  string      `json:"error,omitempty"`  // what went wrong; "" means nothing
	Child  *wire.Child `json:"child,omitempty"`  // if the peer was a child process, how it ended
}

// An HTTP is the request of one HTTP exchange and the head of its response: a
// POST that carried a message, a request for an event stream, or the upgrade of
// a WebSocket. The bodies are lines of their own. Line.Time is when the head of
// the response came.
type HTTP struct {
	Method   string      `json:"method"`
	URL      string      `json:"url"`                // values of the query redacted
	Proto    string      `json:"proto,omitempty"`    // such as "HTTP/1.1"
	Request  [][2]string `json:"request,omitempty"`  // header lines: name and value, secrets redacted
	Status   int         `json:"status,omitempty"`   // 0 means no response came
	Response [][2]string `json:"response,omitempty"` // header lines
	Remote   string      `json:"remote,omitempty"`   // the address of the other side
	Error    string      `json:"error,omitempty"`    // why no response came
	Times    Times       `json:"times"`
}

// Notes that programs read.
const (
	NoiseNote  = "what is no message came: " // begins the note of a line that is not a message
	JudgedNote = "validate judges the "      // is followed by client or server: the other side was a test of that one
)

// Times are the parts of an HTTP exchange, in seconds.
type Times struct {
	Start   float64 `json:"start"`             // when it began, since Header.Started
	Connect float64 `json:"connect,omitempty"` // to connect, without TLS; 0 means a connection was reused
	TLS     float64 `json:"tls,omitempty"`     // for the TLS handshake
	Wait    float64 `json:"wait,omitempty"`    // from the end of the request to the head of the response
}
