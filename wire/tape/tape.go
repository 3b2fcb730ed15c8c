// Package tape reads and writes tapes: recorded conversations in NDJSON files. A tape has a header and a line for each message, opening,
// close, HTTP exchange and note.
//
// A Reader reads a tape line by line in constant memory. A Writer writes one during a conversation. Other packages play, compare and show
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

// Version is the supported format version.
const Version = 1

// Redacted begins the placeholder of a secret on a tape. A number follows, which equal secrets share. In comparisons, the placeholder
// equals any value.
const Redacted = redact.Mark

// SecretNumber reports whether a string is the placeholder of a secret, and returns its number (0 for a placeholder
// without a number).
func SecretNumber(text string) (number int, is bool) { return redact.IsMark(text) }

// Shown returns the value of a member, with placeholders for secrets.
func Shown(name string, val []byte) []byte {
	switch {
	case val == nil:
		return nil
	case scan.Type(val) == 's' && redact.SecretName(name):
		return scan.AppendQuoted(nil, Redacted)
	}
	return redact.JSON(val)
}

// IsRedacted reports whether a JSON value is the placeholder of a secret.
func IsRedacted(val []byte) bool {
	if len(val) < len(Redacted)+2 || val[0] != '"' || string(val[1:1+len(Redacted)]) != Redacted {
		return false
	}
	_, is := redact.IsMark(string(val[1 : len(val)-1]))
	return is
}

// MayBeRedacted reports whether a message may contain the placeholder of a secret. It errs only on the side of true,
// and is fast.
func MayBeRedacted(msg []byte) bool { return bytes.Contains(msg, redacted) }

var redacted = []byte(`"` + Redacted)

// A Header is the first line of a tape.
type Header struct {
	Endpoint string    // the peer, redacted, or ""
	Dialect  string    // "" means jsonrpc
	Started  time.Time // when Line.Time was 0, or the zero time
	Program  string    // the version of rpcx that recorded the tape, or ""
}

// A Kind is the kind of a line of a tape.
type Kind uint8

// These are the kinds of line.
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

// A Line is one line of a tape other than the header. Kind determines which members a line has.
type Line struct {
	Number int // the line's number in the file, where the header is line 1, or 0 for a line without a file
	Kind   Kind
	Time   time.Duration  // the time since Header.Started; a line without a time has that of its predecessor
	Conn   int            // the connection, or 0 if there is only one
	Dir    wire.Direction // the direction of a Message, or the side that ended the connection of a Closing; Send is the client's side

	// Msg or Bytes is a message as transmitted: Msg for JSON, otherwise Bytes. If both are nil, Match describes the message.
	Msg    json.RawMessage
	Bytes  []byte
	Binary bool // the message was a binary WebSocket message

	// These members are handwritten. They extend or replace a message.
	Match string    // a jq program that is true for the message at this place, or ""
	Bind  []Binding // names for values of this message, sorted by name
	Vars  bool      // "${name}" in the strings of Msg stands for a bound value
	Name  string    // the name of this request for the Re of its response, or ""
	Re    string    // the Name of the answered request, or "" if the message's id identifies it

	// Optional marks a notification of the server: others of its method may be absent or more, and their values are not compared.
	Optional bool

	Open  *Open
	Close *Close
	HTTP  *HTTP
	Note  string // the text of a Note, or a handwritten remark
}

// A Binding names a value of a message for later lines.
type Binding struct {
	Name  string // the name without $
	Value string // a jq program whose first output is the value
}

// Payload returns the message as transmitted, or nil if there is only Match.
func (l *Line) Payload() []byte {
	if l.Msg != nil {
		return l.Msg
	}
	return l.Bytes
}

// An Open describes how a connection was opened.
type Open struct {
	Endpoint    string `json:"endpoint,omitempty"`    // the address of the connection or listener, redacted
	From        string `json:"from,omitempty"`        // the client's address, if known
	Subprotocol string `json:"subprotocol,omitempty"` // the negotiated WebSocket subprotocol
	Reconnect   bool   `json:"reconnect,omitempty"`   // the connection replaces a lost one
}

// A Close describes how a connection ended.
type Close struct {
	Code   int         `json:"code,omitempty"`   // the WebSocket close code, or 0
	Reason string      `json:"reason,omitempty"` // the reason of the close, or ""
	Clean  bool        `json:"clean,omitempty"`  // the connection ended without an error, as the transport specifies
	Error  string      `json:"error,omitempty"`  // the error, or ""
	Child  *wire.Child `json:"child,omitempty"`  // how the child process ended, or nil
}

// An HTTP is the request of one HTTP exchange and the head of its response. The request is a POST with a message, the request of an event
// stream, or a WebSocket upgrade. The bodies are separate lines. Line.Time is the arrival of the response's head.
type HTTP struct {
	Method   string      `json:"method"`
	URL      string      `json:"url"`                // with redacted query values
	Proto    string      `json:"proto,omitempty"`    // such as "HTTP/1.1"
	Request  [][2]string `json:"request,omitempty"`  // pairs of header name and value, redacted
	Status   int         `json:"status,omitempty"`   // 0 without a response
	Response [][2]string `json:"response,omitempty"` // pairs of header name and value, redacted
	Remote   string      `json:"remote,omitempty"`
	Error    string      `json:"error,omitempty"` // why no response arrived
	Times    Times       `json:"times"`
}

// These notes are for programs.
const (
	NoiseNote  = "not a message: "      // is followed by a received line that is not a message
	JudgedNote = "validate checks the " // is followed by client or server; the other side was a test of that side
)

// Times are the phases of an HTTP exchange, in seconds.
type Times struct {
	Start   float64 `json:"start"`             // since Header.Started
	Connect float64 `json:"connect,omitempty"` // the connect time without TLS, or 0 for a reused connection
	TLS     float64 `json:"tls,omitempty"`     // the TLS handshake
	Wait    float64 `json:"wait,omitempty"`    // from the end of the request to the head of the response
}
