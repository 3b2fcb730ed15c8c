package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rpcx/wire/scan"
)

// These are the error codes of JSON-RPC 2.0, section 5.1, and those that rpcx adds in the range for implementations.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeServer         = -32000 // a server's own error; see data.retryable
	CodeRefused        = -32001 // refused by policy
)

// An Error is an error response, received or sent. Processes of rpcx use its JSON encoding to pass errors to each
// other. The method JSON returns the error in the form for peers.
type Error struct {
	Code      json.RawMessage `json:"code,omitempty"` // a number or a string token, or nil
	Message   string          `json:"message"`
	Data      json.RawMessage `json:"data,omitempty"`      // nil if there is none
	Kind      string          `json:"kind,omitempty"`      // the dialect's own name for the class of error, or ""
	Retryable *bool           `json:"retryable,omitempty"` // nil if unspecified
	Raw       json.RawMessage `json:"raw,omitempty"`       // the error as received; nil for local ones
	Hint      string          `json:"hint,omitempty"`      // what the user can do, a phrase of the dialect; "": not known
}

// NewError returns an error for an answer.
func NewError(code int, message string) *Error {
	return &Error{Code: strconv.AppendInt(nil, int64(code), 10), Message: message}
}

// Errorf is NewError with a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return NewError(code, fmt.Sprintf(format, args...))
}

// WithData returns e with its data set to v as JSON.
func (e *Error) WithData(v any) *Error {
	if b, err := scan.Marshal(v); err == nil {
		e.Data = b
	}
	return e
}

// Error returns the message with the code.
func (e *Error) Error() string {
	code := strings.Trim(string(e.Code), `"`)
	switch {
	case code == "":
		return e.Message
	case e.Message == "":
		return "error " + code
	}
	return e.Message + " (code " + code + ")"
}

// Clone returns a copy that shares no bytes with e.
func (e *Error) Clone() *Error {
	c := *e
	c.Code, c.Data, c.Raw = bytes.Clone(e.Code), bytes.Clone(e.Data), bytes.Clone(e.Raw)
	return &c
}

// JSON returns the error as an object: unchanged if it was received, otherwise with code, message and data.
func (e *Error) JSON() json.RawMessage {
	if e.Raw != nil {
		return e.Raw
	}
	var o scan.Object
	if o.Add("code", e.Code); o.Empty() {
		o.Int("code", CodeServer)
	}
	o.Text("message", e.Message)
	o.Add("data", e.Data)
	return o.End()
}

// AsError finds the *Error in err, or returns one with CodeInternal and the text of err.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if f, ok := errors.AsType[*Fault](err); ok && f.RPC != nil {
		return f.RPC
	}
	return NewError(CodeInternal, err.Error())
}

// A CloseError is the error of a connection that has ended in both directions. The peer package turns it into a Fault
// of kind Closed for each pending call.
type CloseError struct {
	Code   int    `json:"code,omitempty"`   // the WebSocket close code; 0 for none
	Reason string `json:"reason,omitempty"` // the reason given, or ""
	Clean  bool   `json:"clean,omitempty"`  // the peer ended the connection properly (status 1000 or 1001, a child's exit 0, an orderly end)
	Child  *Child `json:"-"`                // how the child ended, for exec and ipc; nil elsewhere
	Err    error  `json:"-"`                // the cause, if there is one
}

// Stray is the cause of a Protocol fault: the peer sent a line that is not a message.
type Stray struct{ Line []byte }

// Error names the cause without the peer's bytes.
func (*Stray) Error() string { return "a line is not a message" }

// ErrCut is the cause of a CloseError if the connection ended inside a message.
var ErrCut = errors.New("it ended in the middle of a message")

// Error describes the end.
func (e *CloseError) Error() string {
	switch {
	case e.Child != nil:
		return e.Child.String()
	case e.Code != 0 && e.Reason != "":
		return fmt.Sprintf("connection closed with code %d: %s", e.Code, e.Reason)
	case e.Code != 0:
		return fmt.Sprintf("connection closed with code %d", e.Code)
	case e.Err != nil:
		return "connection lost: " + e.Err.Error()
	}
	return "connection closed"
}

// Unwrap returns the cause.
func (e *CloseError) Unwrap() error { return e.Err }

// A Child describes how a child process ended.
type Child struct {
	Command string   `json:"command,omitempty"` // the program, without its arguments
	Exit    int      `json:"exit"`              // its exit status; -1 when a signal ended it
	Signal  string   `json:"signal,omitempty"`  // the signal that ended it, such as "SIGKILL"
	Stderr  []string `json:"stderr,omitempty"`  // the last lines of its stderr
}

// String describes how it ended, with the last line of its stderr.
func (c *Child) String() string {
	s := fmt.Sprintf("%s ended with status %d", c.Command, c.Exit)
	if c.Signal != "" {
		s = fmt.Sprintf("%s was ended by %s", c.Command, c.Signal)
	}
	if n := len(c.Stderr); n > 0 {
		s += ": " + c.Stderr[n-1]
	}
	return s
}
