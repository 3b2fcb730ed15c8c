// Package tape reads and writes tapes: recorded conversations in NDJSON files. A header is followed by a line for each message, opening,
// close, HTTP exchange and note. rpcx-tape(5) describes the format.
//
// A Reader reads a tape line by line in constant memory; a Writer writes one during a conversation. Other packages play, compare and show
// tapes.
package tape

import (
	"bytes"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// Version is the format version that this package reads and writes.
const Version = 1

// Redacted begins the text that replaces a secret in a tape. A number follows it, which equal secrets share. It equals any value when
// tapes are compared.
const Redacted = redact.Mark

// SecretNumber reports whether a string replaces a secret, and returns its number (0: not numbered).
func SecretNumber(text string) (number int, is bool) { return redact.IsMark(text) }

// Shown returns the value of a member without secrets.
func Shown(name string, val []byte) []byte {
	switch {
	case val == nil:
		return nil
	case scan.Type(val) == 's' && redact.SecretName(name):
		return scan.AppendQuoted(nil, Redacted)
	}
	return redact.JSON(val)
}

// IsRedacted reports whether a JSON value replaces a secret.
func IsRedacted(val []byte) bool {
	if len(val) < len(Redacted)+2 || val[0] != '"' || string(val[1:1+len(Redacted)]) != Redacted {
		return false
	}
	_, is := redact.IsMark(string(val[1 : len(val)-1]))
	return is
}

// MayBeRedacted reports whether a message may contain a value that replaces a secret. It is fast.
func MayBeRedacted(msg []byte) bool { return bytes.Contains(msg, redacted) }

var redacted = []byte(`"` + Redacted)

// A Header is the first line of a tape.
type Header struct {
	Endpoint string    // the peer, redacted; "": unknown
	Dialect  string    // "" means jsonrpc
	Started  time.Time // when Line.Time was 0; the zero time: unknown
	Program  string    // the version of rpcx that recorded it; "": unknown
}

// A Kind is the kind of a line of a tape.
type Kind uint8

// The kinds of line.
const (
	Message  Kind = iota // a message, or a condition for one (Match)
	Opening              // a connection was opened
	Closing              // a connection ended
	Exchange             // an HTTP exchange: the request and the head of the response
	Note                 // text for people
)

var kindNames = [...]string{"message", "open", "close", "http", "note"}

// String returns the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

// A Line is one line of a tape other than the header. Kind determines which members apply.
type Line struct {
	Number int            // the line's number in the file, where the header is line 1; 0: not from a file
	Kind   Kind           // determines which of the members below apply
	Time   time.Duration  // since Header.Started; a line without a time has the time of the preceding line
	Conn   int            // the line's connection; 0: the only one
	Dir    wire.Direction // of a Message; of a Closing, the side that ended the connection. Send is the client's side

	// Msg or Bytes is a message as transmitted: Msg if it was JSON, else Bytes. If both are nil, Match describes the message.
	Msg    json.RawMessage
	Bytes  []byte
	Binary bool // it was sent as a binary WebSocket message

	// Handwritten members, which extend or replace a message.
	Match string    // a jq program that must be true for the message at this place, or ""
	Bind  []Binding // names for values of the message at this place, for later lines; sorted by name
	Vars  bool      // "${name}" inside the strings of Msg stands for a bound value
	Name  string    // the name by which a response refers to this request (Re), or ""
	Re    string    // the Name of the request that this answers; "": the message's id identifies it

	Open  *Open  // of an Opening
	Close *Close // of a Closing
	HTTP  *HTTP  // of an Exchange
	Note  string // the text of a Note; of any other line, a handwritten remark
}

// A Binding gives a name to a value of a message.
type Binding struct {
	Name  string // as in $name
	Value string // the jq program whose first output is the value
}

// Payload returns the message as transmitted, Msg or Bytes, or nil if there is only Match.
func (l *Line) Payload() []byte {
	if l.Msg != nil {
		return l.Msg
	}
	return l.Bytes
}

// An Open describes how a connection was opened.
type Open struct {
	Endpoint    string `json:"endpoint,omitempty"`    // the address that was dialled or listened on; redacted
	From        string `json:"from,omitempty"`        // the client's address, if the listener knows it
	Subprotocol string `json:"subprotocol,omitempty"` // the negotiated WebSocket subprotocol
	Reconnect   bool   `json:"reconnect,omitempty"`   // it replaces a lost connection
}

// A Close describes how a connection ended.
type Close struct {
	Code   int         `json:"code,omitempty"`   // the WebSocket close code; 0 if there is none
	Reason string      `json:"reason,omitempty"` // the reason given, or ""
	Clean  bool        `json:"clean,omitempty"`  // it ended as the transport specifies, without an error
	Error  string      `json:"error,omitempty"`  // the error, or ""
	Child  *wire.Child `json:"child,omitempty"`  // how the child process ended, if the peer was one
}

// An HTTP is the request of one HTTP exchange and the head of its response: a POST that carried a message, a request for an event stream,
// or a WebSocket upgrade. The bodies are separate lines. Line.Time is the time at which the head of the response arrived.
type HTTP struct {
	Method   string      `json:"method"`
	URL      string      `json:"url"`                // with redacted query values
	Proto    string      `json:"proto,omitempty"`    // such as "HTTP/1.1"
	Request  [][2]string `json:"request,omitempty"`  // header lines, each a name and a value, with secrets redacted
	Status   int         `json:"status,omitempty"`   // 0: no response arrived
	Response [][2]string `json:"response,omitempty"` // header lines
	Remote   string      `json:"remote,omitempty"`   // the address of the peer
	Error    string      `json:"error,omitempty"`    // why no response arrived
	Times    Times       `json:"times"`
}

// Notes that programs read.
const (
	NoiseNote  = "what is no message came: " // begins the note about a line that is not a message
	JudgedNote = "validate judges the "      // is followed by client or server: the other side was a test of it
)

// Times are the parts of an HTTP exchange, in seconds.
type Times struct {
	Start   float64 `json:"start"`             // the start, since Header.Started
	Connect float64 `json:"connect,omitempty"` // the connect time without TLS; 0: a connection was reused
	TLS     float64 `json:"tls,omitempty"`     // the TLS handshake
	Wait    float64 `json:"wait,omitempty"`    // from the end of the request to the head of the response
}
