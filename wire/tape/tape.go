// Package tape reads and writes tapes: recorded conversations in NDJSON files. A tape has a header, and a line for each message, HTTP
// exchange and note, and for the start and the end of each connection.
//
// A Reader reads a tape line by line, with bounded memory. A Writer writes a tape during a conversation. Other packages play, compare and
// show tapes.
package tape

import (
	"encoding/json"
	"time"

	"rpcx/wire"
)

// A Header is the first line of a tape.
type Header struct {
	Endpoint string    // the endpoint of the peer, redacted, or ""
	Dialect  string    // "" means jsonrpc
	Started  time.Time // the time for which Line.Time is 0, or the zero time
	Program  string    // the version of rpcx that recorded the tape, or ""
}

// A Kind is the kind of a line on a tape.
type Kind uint8

// A line has one of these kinds.
const (
	Message  Kind = iota // a message, or a condition for one (Match)
	Opening              // a connection was opened
	Closing              // a connection ended
	Exchange             // an HTTP exchange: the request and the head of the response
	Note                 // a text for the user
)

// A Line is a line on a tape other than the header. Its Kind determines which fields are used.
type Line struct {
	Number int // the line number in the file, where the header is line 1; 0 if the line does not come from a file
	Kind   Kind
	Time   time.Duration  // the time since Header.Started; if the line has no time, that of the previous line
	Conn   int            // the number of the connection, or 0 if there is only one
	Dir    wire.Direction // for a Message, its direction; for a Closing, the side that ended the connection. Send stands for the client

	// Msg or Bytes contains a message as it was transmitted: Msg if it is JSON, and otherwise Bytes. If both are nil, Match
	// describes the message.
	Msg    json.RawMessage
	Bytes  []byte
	Binary bool // the message was a binary WebSocket message

	// The following fields are handwritten. They extend or replace a message.
	Match string    // a jq program that must be true for the message at this place, or ""
	Bind  []Binding // names for values in this message, sorted
	Vars  bool      // "${name}" in the strings of Msg stands for the value of a bound name
	Name  string    // the name of this request, to which the Re of its response refers, or ""
	Re    string    // the Name of the request to which this is the response, or "" if the id identifies the request

	// Optional is set on a notification of the server if neither the number of notifications with its method nor their values are
	// compared.
	Optional bool

	Open  *Open
	Close *Close
	HTTP  *HTTP
	Note  string // the text of a note, or a handwritten remark
}

// A Binding gives a name to a value in a message. Later lines can use the name.
type Binding struct {
	Name  string // the name, without $
	Value string // a jq program; its first output is the value
}

// Payload returns the message as it was transmitted, or nil if there is only a Match.
func (l *Line) Payload() []byte {
	if l.Msg != nil {
		return l.Msg
	}
	return l.Bytes
}

// An Open describes how a connection was opened.
type Open struct {
	Endpoint    string `json:"endpoint,omitempty"`    // the endpoint or listen address, redacted
	From        string `json:"from,omitempty"`        // the address of the client, if known
	Subprotocol string `json:"subprotocol,omitempty"` // the negotiated WebSocket subprotocol
	Reconnect   bool   `json:"reconnect,omitempty"`   // the connection replaces one that was lost
}

// A Close describes how a connection ended.
type Close struct {
	Code   int         `json:"code,omitempty"`   // the WebSocket close code, or 0
	Reason string      `json:"reason,omitempty"` // the reason in the close frame, or ""
	Clean  bool        `json:"clean,omitempty"`  // the connection ended in the way that the transport requires
	Error  string      `json:"error,omitempty"`  // the error, or ""
	Child  *wire.Child `json:"child,omitempty"`  // how the child process ended, or nil
}

// An HTTP describes one HTTP exchange: the request and the head of the response. The request is a POST with a message, a request for an
// event stream, or an upgrade to WebSocket. The bodies are on lines of their own. Line.Time is when the head of the response arrived.
type HTTP struct {
	Method   string      `json:"method"`
	URL      string      `json:"url"`                // the values in the query are redacted
	Proto    string      `json:"proto,omitempty"`    // such as "HTTP/1.1"
	Request  [][2]string `json:"request,omitempty"`  // pairs of header name and value, redacted
	Status   int         `json:"status,omitempty"`   // 0 if there was no response
	Response [][2]string `json:"response,omitempty"` // pairs of header name and value, redacted
	Remote   string      `json:"remote,omitempty"`
	Error    string      `json:"error,omitempty"` // why there was no response
	Times    Times       `json:"times"`
}

// rpcx itself evaluates the notes that begin with these texts.
const (
	NoiseNote  = "not a message: "      // followed by a line that was received but is not a message
	JudgedNote = "validate checks the " // followed by client or server; the messages of the other side are validate's tests
)

// Times contains the durations of the phases of an HTTP exchange, in seconds.
type Times struct {
	Start   float64 `json:"start"`             // since Header.Started
	Connect float64 `json:"connect,omitempty"` // how long connecting took, without TLS; 0 if the connection was reused
	TLS     float64 `json:"tls,omitempty"`     // how long the TLS handshake took
	Wait    float64 `json:"wait,omitempty"`    // from the end of the request to the head of the response
}
