package cmdline

import (
	"context"
	"errors"
	"io"

	"rpcx/format"
	"rpcx/wire"
)

// A Status is one row of the table of exit statuses. The codes never change. Of several failures, the one with the
// lowest rank determines the status.
type Status struct {
	Code    int            `json:"status"`
	Kind    wire.FaultKind `json:"name"`
	rank    int
	Meaning string `json:"meaning"`
}

// statuses is the table in the order of the codes.
var statuses = []Status{
	{0, "ok", 99, "success: every expectation held; the stream ended as requested, or the peer ended it normally"},
	{1, wire.RPCError, 15, "the peer returned an error, or a stream ended with an error event"},
	{2, wire.Usage, 4, "a bad flag, parameter, jq program, schema or endpoint; nothing was sent"},
	{3, wire.Unreachable, 8, "rpcx could not reach the peer: unknown name, connection or upgrade refused, TLS failure, no such session, a child that exited before its handshake"},
	{4, wire.Expectation, 14, "the result is not the expected one: --expect, a schema, a comparison, a checksum"},
	{5, wire.Protocol, 9, "the peer broke its protocol: invalid JSON, framing or handshake, a message that is too large, a stream that ended without done or error"},
	{6, wire.Auth, 7, "authentication failed: HTTP status 401, 403 or 407, client certificate refused, no token, --token-command failed"},
	{7, wire.Closed, 10, "the connection or the child ended before the result arrived"},
	{8, wire.Helper, 13, "a hook that the outcome depended on (--strict-hooks: any hook), a jq program or a template failed"},
	{9, wire.Conflict, 12, "a session or file exists or is busy, or another client took over"},
	{70, wire.Internal, 1, "a defect of rpcx"},
	{74, wire.IO, 2, "stdout or a file could not be written"},
	{124, wire.Timeout, 11, "--timeout or --idle expired"},
	{126, wire.NotExecutable, 6, "the endpoint's command is not executable"},
	{127, wire.NotFound, 5, "the endpoint's command was not found"},
	{129, wire.HungUp, 3, "SIGHUP; rpcx cancels its calls on the peer first, if the dialect can cancel"},
	{130, wire.Interrupted, 3, "SIGINT; rpcx cancels its calls first"},
	{141, wire.PipeClosed, 3, "stdout was closed (SIGPIPE); rpcx cancels its calls first"},
	{143, wire.Terminated, 3, "SIGTERM; rpcx cancels its calls first"},
}

// StatusOf returns the row of a failure's kind.
func StatusOf(kind wire.FaultKind) Status {
	for _, s := range statuses {
		if s.Kind == kind {
			return s
		}
	}
	return StatusOf(wire.Internal)
}

// Worst returns the failure in err that determines the exit status, or nil for nil.
func Worst(err error) *wire.Fault {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var w *wire.Fault
		for _, e := range joined.Unwrap() {
			f := Worst(e)
			if f != nil && (w == nil || StatusOf(f.Kind).rank < StatusOf(w.Kind).rank) {
				w = f
			}
		}
		return w
	}
	return ToFault(err)
}

// ToFault converts any error to a Fault. An error of an unknown kind is a defect of rpcx.
func ToFault(err error) *wire.Fault {
	if f := wire.AsFault(err); f != nil {
		return f
	}
	var rpc *wire.Error
	switch closed, ok := errors.AsType[*wire.CloseError](err); {
	case errors.As(err, &rpc):
		return &wire.Fault{Kind: wire.RPCError, Message: rpc.Error(), RPC: rpc, Retryable: rpc.Retryable}
	case ok:
		return &wire.Fault{Kind: wire.Closed, Message: closed.Error(), Close: closed, Child: closed.Child}
	case errors.Is(err, context.DeadlineExceeded):
		return wire.NewFault(wire.Timeout, "the deadline expired", err)
	case errors.Is(err, context.Canceled):
		return wire.NewFault(wire.Interrupted, "interrupted", err)
	case errors.Is(err, wire.ErrUnsupported):
		return wire.NewFault(wire.Usage, err.Error(), err)
	}
	return wire.NewFault(wire.Internal, err.Error(), err)
}

// Quiet reports whether f needs no message: it is a signal or a closed pipe, which the status shows.
func Quiet(f *wire.Fault) bool {
	return f.Kind == wire.PipeClosed || f.Kind == wire.Interrupted || f.Kind == wire.Terminated || f.Kind == wire.HungUp
}

// ExitStatuses returns the table.
func ExitStatuses() []Status { return statuses }

// Print writes text to w, which is stdout. Its error is a Fault of kind IO or PipeClosed.
func Print(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return format.StdoutFault(err)
	}
	return nil
}

// CommandStatus is an error that rpcx does not print. The exit status becomes that of the command that serve has run.
type CommandStatus struct {
	Code int
	Text string
}

// Error names the command and how it ended.
func (e CommandStatus) Error() string { return e.Text }
