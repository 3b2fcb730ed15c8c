// Package tape reads and writes tapes: recorded conversations, an NDJSON file
// with a header and then a line for each message, opening, close, HTTP exchange
// and note. The manual has the format as rpcx-tape(5).
//
// A Reader goes through a tape line by line in flat memory. A Writer is what a
// recording goes to. What is done with a tape (playing one side of it, comparing
// it, showing it) is in other packages.
package tape

import (
	"encoding/json"
	"time"

	"rpcx/wire"
)

// Version is the version of the format that this package reads and writes.
const Version = 1

// Redacted stands in a tape where a secret was. It equals anything when tapes are
// compared.
const Redacted = "…"

// A Header is the first line of a tape.
type Header struct {
	Endpoint string    // what was connected to, redacted; "": not said
	Dialect  string    // "": not said, which means jsonrpc
	Started  time.Time // when Line.Time was 0; the zero time: not said
	Program  string    // the version of rpcx that recorded it; "": not said
}

// A Kind says what a line of a tape is.
type Kind uint8

// The kinds of line.
const (
	Message  Kind = iota // a message, or what one must be like
	Opening              // a connection was opened
	Closing              // a connection ended
	Exchange             // an HTTP exchange: its request and the head of its response
	Note                 // words for people, nothing else
)

var kindNames = [...]string{"message", "open", "close", "http", "note"}

// String returns the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

// A Line is one line of a tape after its header. Which members count depends on
// Kind.
type Line struct {
	Number int            // its number in the file; the header is line 1. 0: not from a file
	Kind   Kind           //
	Time   time.Duration  // since Header.Started; that of the line before where the line does not say
	Conn   int            // which connection it belongs to; 0: the only one
	Dir    wire.Direction // of a Message, and who ended the connection of a Closing: seen from the recorded client

	// Of a Message, what crossed the wire: Msg where it was JSON, else Bytes. Both
	// nil: only Match says what it is like.
	Msg   json.RawMessage
	Bytes []byte

	// What people write beside a message, or in place of it.
	Match string    // a jq program that a message at this place must make true; "": none
	Bind  []Binding // values of the message at this place that later lines use, in the order of their names
	Vars  bool      // "${name}" inside the strings of Msg stands for a bound value
	Name  string    // what an answer to this line calls it; "": nothing
	Re    string    // the Name of the request that this answers; "": the message says it

	Open  *Open  // of an Opening
	Close *Close // of a Closing
	HTTP  *HTTP  // of an Exchange
	Note  string // of a Note, and what people wrote beside anything else
}

// A Binding gives a name to a value of a message.
type Binding struct {
	Name  string // as in $name
	Value string // the jq program whose first output is the value
}

// Payload returns what crossed the wire, as JSON or not; nil where only Match says
// what it is like.
func (l *Line) Payload() []byte {
	if l.Msg != nil {
		return l.Msg
	}
	return l.Bytes
}

// An Open says how a connection was opened.
type Open struct {
	Endpoint    string `json:"endpoint,omitempty"`    // what was dialled, or where it came in; redacted
	From        string `json:"from,omitempty"`        // who connected, where a listener can tell
	Subprotocol string `json:"subprotocol,omitempty"` // that both sides agreed on
	Reconnect   bool   `json:"reconnect,omitempty"`   // it takes the place of one that was lost
}

// A Close says how a connection ended.
type Close struct {
	Code   int         `json:"code,omitempty"`   // the WebSocket close code; 0: none
	Reason string      `json:"reason,omitempty"` // the reason given; "": none
	Clean  bool        `json:"clean,omitempty"`  // it ended in good order
	Error  string      `json:"error,omitempty"`  // what went wrong; "": nothing
	Child  *wire.Child `json:"child,omitempty"`  // how the child ended, where the peer was one
}

// An HTTP is the request of one HTTP exchange and the head of its response: a POST
// that carried a message, a request for an event stream, the upgrade of a
// WebSocket. The bodies are messages of their own. Line.Time is when the head of
// the response had come.
type HTTP struct {
	Method   string      `json:"method"`
	URL      string      `json:"url"`                // values of the query redacted
	Proto    string      `json:"proto,omitempty"`    // such as "HTTP/1.1"
	Request  [][2]string `json:"request,omitempty"`  // header lines: name and value, secrets redacted
	Status   int         `json:"status,omitempty"`   // 0: no response came
	Response [][2]string `json:"response,omitempty"` // header lines
	Remote   string      `json:"remote,omitempty"`   // the address of the other side
	Error    string      `json:"error,omitempty"`    // why no response came
	Times    Times       `json:"times"`
}

// Times are the parts of an HTTP exchange, in seconds.
type Times struct {
	Start   float64 `json:"start"`             // since Header.Started: when it began
	Connect float64 `json:"connect,omitempty"` // to connect, TLS not included; 0: a connection was used again
	TLS     float64 `json:"tls,omitempty"`     // of the TLS handshake
	Wait    float64 `json:"wait,omitempty"`    // from the request being sent to the head of the response
}
