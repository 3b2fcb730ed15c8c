package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// A FaultKind is the class of a failure. Each has an exit status (EXIT STATUS in the manual).
type FaultKind string

// The strings are the kinds in the output of --errors json.
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

// A Fault is a failure as users see it: one line of text or one JSON object, and an exit status. rpcx processes
// exchange its JSON encoding, which omits the cause.
type Fault struct {
	Kind      FaultKind   `json:"kind"`
	Message   string      `json:"message"` // the problem, in lower case
	Method    string      `json:"method,omitempty"`
	Retryable *bool       `json:"retryable,omitempty"`
	Unreached bool        `json:"unreached,omitempty"` // the request certainly did not reach the peer, so it can be repeated
	RPC       *Error      `json:"rpc,omitempty"`
	Close     *CloseError `json:"close,omitempty"`
	HTTP      *HTTP       `json:"http,omitempty"`
	Child     *Child      `json:"child,omitempty"`
	Trace     []string    `json:"-"`              // the lines of the peer's stack trace; empty but not nil if the peer sent none
	Hint      string      `json:"hint,omitempty"` // what to do, as a phrase
	Fix       []string    `json:"fix,omitempty"`  // a command that works, one element per word
	Err       error       `json:"-"`
}

// HTTP is an HTTP server's response that is not a message.
type HTTP struct {
	Status int    `json:"status"`
	Body   string `json:"body,omitempty"` // the first 1,024 bytes
	// RetryAfter is how long the server asks clients to wait, in seconds, or 0.
	RetryAfter int `json:"retry_after,omitempty"`
	// Challenge is the scheme of WWW-Authenticate, such as "Basic", or "".
	Challenge string `json:"-"`
	// Challenges are all values of WWW-Authenticate.
	Challenges []string `json:"-"`
}

// Error returns the message, followed by the cause unless the message contains it.
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

// NewFault returns a Fault with a cause. The cause may be nil.
func NewFault(kind FaultKind, message string, cause error) *Fault {
	return &Fault{Kind: kind, Message: message, Err: cause}
}

// WithHint returns a copy of f with that hint.
func (f Fault) WithHint(hint string) *Fault {
	f.Hint = hint
	return &f
}

// WithFix returns a copy of f with that hint and fix.
func (f Fault) WithFix(hint string, fix []string) *Fault {
	f.Hint, f.Fix = hint, fix
	return &f
}

// About returns a copy of f whose message begins with subject and a colon.
func (f Fault) About(subject string) *Fault {
	f.Message = subject + ": " + f.Message
	return &f
}

// WithMethod returns a copy of f that names a method. If f already names one, it stays.
func (f Fault) WithMethod(method string) *Fault {
	f.Method = cmp.Or(f.Method, method)
	return &f
}

// AsFault returns the *Fault in err, or nil.
func AsFault(err error) *Fault {
	f, _ := errors.AsType[*Fault](err)
	return f
}

// ErrUnsupported is the error of an operation that does not exist in the dialect.
var ErrUnsupported = errors.New("not part of this dialect")

// ErrUnanswered is the cause of a Fault if an HTTP request reached the peer, but its response was lost.
var ErrUnanswered = errors.New("the response was lost")

// ErrResponseEnded is the cause of a Fault if an HTTP response ended properly, but before the stream that it carried.
var ErrResponseEnded = errors.New("the response has ended")

// Usagef returns a Fault of kind Usage.
func Usagef(format string, args ...any) *Fault {
	return NewFault(Usage, fmt.Sprintf(format, args...), nil)
}

// TooLong returns the Fault for a peer's message of more than max bytes.
func TooLong(max int) *Fault {
	return NewFault(Protocol, fmt.Sprintf("the peer sent a message over the limit of %d bytes (--max-message)", max), nil)
}

// Ended returns ctx.Err(), or context.DeadlineExceeded if ctx's deadline has passed but its timer has not fired. Code
// with its own timer for that deadline, such as a dial, can notice the deadline before ctx does.
func Ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return nil
}
