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

// Error codes from JSON-RPC 2.0, section 5.1, and rpcx's own codes in the range for implementations.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeServer         = -32000 // an error of the server; see data.retryable
	CodeRefused        = -32001 // refused by policy
)

// An Error is an error response, received or created locally. rpcx processes exchange its JSON encoding. Peers receive
// the result of JSON.
type Error struct {
	Code      json.RawMessage `json:"code,omitempty"` // a number or a string token, or nil
	Message   string          `json:"message"`
	Data      json.RawMessage `json:"data,omitempty"`      // may be nil
	Kind      string          `json:"kind,omitempty"`      // the dialect's name for the class of error, or ""
	Retryable *bool           `json:"retryable,omitempty"` // nil if unspecified
	Raw       json.RawMessage `json:"raw,omitempty"`       // the error as received, or nil for a local one
	Hint      string          `json:"hint,omitempty"`      // a phrase from the dialect or, for a local error, from a hook that helps the user, or ""
}

// NewError returns an error for a response.
func NewError(code int, message string) *Error {
	return &Error{Code: strconv.AppendInt(nil, int64(code), 10), Message: message}
}

// Errorf returns an error with a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return NewError(code, fmt.Sprintf(format, args...))
}

// TryAgain returns an error for a request that may succeed later.
func TryAgain(message string) *Error {
	return NewError(CodeServer, message).WithData(map[string]bool{"retryable": true})
}

// WithData returns e with v, as JSON, as its data.
func (e *Error) WithData(v any) *Error {
	if b, err := scan.Marshal(v); err == nil {
		e.Data = b
	}
	return e
}

// Error returns the message and the code.
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

// Clone returns a copy that shares no memory with e.
func (e *Error) Clone() *Error {
	c := *e
	c.Code, c.Data, c.Raw = bytes.Clone(e.Code), bytes.Clone(e.Data), bytes.Clone(e.Raw)
	return &c
}

// JSON returns the error as an object: unchanged if it was received, else with code, message and data.
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

// AsError returns the *Error in err, or an error with CodeInternal and the text of err.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if f, ok := errors.AsType[*Fault](err); ok && f.RPC != nil {
		return f.RPC
	}
	return NewError(CodeInternal, err.Error())
}

// A CloseError reports that a connection has ended in both directions. Package peer turns it into a Fault of kind
// Closed for each pending call.
type CloseError struct {
	Code   int    `json:"code,omitempty"`   // the WebSocket close code, or 0
	Reason string `json:"reason,omitempty"` // the close reason, or ""
	Clean  bool   `json:"clean,omitempty"`  // the peer ended the connection properly (status 1000 or 1001, a child's exit status 0, an orderly end)
	Child  *Child `json:"-"`                // how the child process of an exec or ipc endpoint ended; nil for other transports
	Err    error  `json:"-"`                // the cause; may be nil
}

// UnexpectedLine is the cause of a Protocol fault about a line that is not a message.
type UnexpectedLine struct{ Line []byte }

// Error describes the cause without the peer's bytes.
func (*UnexpectedLine) Error() string { return "a line is not a message" }

// ErrCut is the cause of a CloseError if the connection ended inside a message.
var ErrCut = errors.New("it ended in the middle of a message")

// Error describes how the connection ended.
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
	Command string   `json:"command,omitempty"` // the program without its arguments
	Exit    int      `json:"exit"`              // the exit status, or -1 after a signal
	Signal  string   `json:"signal,omitempty"`  // the signal that ended the process, such as "SIGKILL"
	Stderr  []string `json:"stderr,omitempty"`  // the last lines of its stderr
}

// String describes how the child ended, with the last line of its stderr.
func (c *Child) String() string {
	s := fmt.Sprintf("%s ended with status %d", c.Command, c.Exit)
	if c.Signal != "" {
		s = fmt.Sprintf("%s was killed by %s", c.Command, c.Signal)
	}
	if n := len(c.Stderr); n > 0 {
		s += ": " + c.Stderr[n-1]
	}
	return s
}
