package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// A FaultKind is the class of a failure. Each has one exit status, which EXIT
// STATUS in the manual lists.
type FaultKind string

// These are the kinds of failures, in the words that --errors json shows.
const (
	RPCError      FaultKind = "rpc_error"
	Usage         FaultKind = "usage"
	Unreachable   FaultKind = "unreachable"
	Expectation   FaultKind = "expectation"
	Protocol      FaultKind = "protocol"
	Auth          FaultKind = "auth"
	Closed        FaultKind = "closed"
	Helper        FaultKind = "helper"
	Conflict      FaultKind = "conflict"
	Internal      FaultKind = "internal"
	IO            FaultKind = "io"
	Timeout       FaultKind = "timeout"
	NotExecutable FaultKind = "not_executable"
	NotFound      FaultKind = "not_found"
	Interrupted   FaultKind = "interrupted"
	PipeClosed    FaultKind = "pipe_closed"
	Terminated    FaultKind = "terminated"
	HungUp        FaultKind = "hung_up"
)

// A Fault is a failure in the form that the user sees: one line of text or one JSON object, and the exit status.
// Processes of rpcx use its JSON encoding, which lacks the cause, to pass failures to each other.
type Fault struct {
	Kind      FaultKind   `json:"kind"`
	Message   string      `json:"message"` // in lower case; it names the problem
	Method    string      `json:"method,omitempty"`
	Retryable *bool       `json:"retryable,omitempty"`
	Unreached bool        `json:"unreached,omitempty"` // the request provably did not reach the peer, so that it can be repeated
	RPC       *Error      `json:"rpc,omitempty"`
	Close     *CloseError `json:"close,omitempty"`
	HTTP      *HTTP       `json:"http,omitempty"`
	Child     *Child      `json:"child,omitempty"`
	Trace     []string    `json:"-"`              // the place in the peer's code, line by line; empty but not nil if unknown
	Hint      string      `json:"hint,omitempty"` // what to do, a phrase
	Fix       []string    `json:"fix,omitempty"`  // a command that would work, as its words
	Err       error       `json:"-"`
}

// HTTP is the response of an HTTP server that is not a message.
type HTTP struct {
	Status int    `json:"status"`
	Body   string `json:"body,omitempty"` // the first 1,024 bytes
	// RetryAfter is the number of seconds that the server wants clients to wait, or 0 if it does not specify that.
	RetryAfter int `json:"retry_after,omitempty"`
	// Challenge is the scheme of WWW-Authenticate, such as "Basic", or "" if there is none.
	Challenge string `json:"-"`
	// Challenges are the values of WWW-Authenticate.
	Challenges []string `json:"-"`
}

// Error returns the message, followed by its cause if the message does not contain it.
func (f *Fault) Error() string {
	if f.Message == "" && f.Err != nil {
		return f.Err.Error()
	}
	return f.Message
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error {
	switch {
	case f.Err != nil:
		return f.Err
	case f.RPC != nil:
		return f.RPC
	case f.Close != nil:
		return f.Close
	}
	return nil
}

// NewFault returns a Fault with a cause, which may be nil.
func NewFault(kind FaultKind, message string, cause error) *Fault {
	return &Fault{Kind: kind, Message: message, Err: cause}
}

// WithHint returns a copy of f with that hint.
func (f Fault) WithHint(hint string) *Fault {
	f.Hint = hint
	return &f
}

// WithMethod returns a copy of f that names a method, if f does not name one.
func (f Fault) WithMethod(method string) *Fault {
	f.Method = cmp.Or(f.Method, method)
	return &f
}

// AsFault returns the *Fault in err, or nil if there is none.
func AsFault(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return nil
}

// ErrUnsupported is returned by a Codec for an operation that its dialect does not
// have.
var ErrUnsupported = errors.New("not part of this dialect")

// ErrUnanswered is the cause of a Fault if a request over HTTP has reached the peer, and its response was lost.
var ErrUnanswered = errors.New("the response was lost")

// Usagef returns a Fault of kind Usage.
func Usagef(format string, args ...any) *Fault {
	return NewFault(Usage, fmt.Sprintf(format, args...), nil)
}

// TooLong returns the Fault for a message of the peer that is longer than max bytes.
func TooLong(max int) *Fault {
	return NewFault(Protocol, fmt.Sprintf("the peer sent a message over the limit of %d bytes (--max-message)", max), nil)
}

// Ended returns ctx.Err(), and context.DeadlineExceeded if ctx's deadline has passed although its timer has not fired
// yet. Code that waits until that deadline with its own timer, as a dial does, may notice the deadline before ctx does.
func Ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return nil
}
