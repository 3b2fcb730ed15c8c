package cmdline

import (
	"context"
	"errors"

	"rpcx/wire"
)

// A Status is one row of the table of exit statuses. Once published the codes
// never change. Of several failures the one with the lowest rank decides the
// status.
type Status struct {
	Code    int
	kind    wire.FaultKind
	rank    int
	meaning string
}

// statuses is the table, in the order of the codes.
var statuses = []Status{
	{0, "ok", 99, "answered; every expectation held; the stream ended as asked, or by the peer in good order"},
	{1, wire.RPCError, 15, "the peer answered with an error, an unrecovered error event included"},
	{2, wire.Usage, 4, "a bad flag, parameter, jq program, schema file or endpoint; whatever rpcx refuses to send"},
	{3, wire.Unreachable, 8, "name, refused, TLS, upgrade refused, no such session, a child that died before its greeting"},
	{4, wire.Expectation, 14, "the answer came and is not what was demanded: --expect, an output schema"},
	{5, wire.Protocol, 9, "the peer broke its protocol: bad JSON or framing, bad handshake, too large, a stream ended with neither done nor error"},
	{6, wire.Auth, 7, "401, 403, 407, client certificate refused, token command failed"},
	{7, wire.Closed, 10, "the connection or the child ended before the answer or in mid-stream"},
	{8, wire.Helper, 13, "the hook that the answer depended on, jq at run time or a template failed here (--strict-hooks: any hook)"},
	{9, wire.Conflict, 12, "something of that name exists or is busy"},
	{70, wire.Internal, 1, "a defect of rpcx"},
	{74, wire.IO, 2, "stdout or a file could not be written"},
	{124, wire.Timeout, 11, "--timeout or --idle ran out"},
	{126, wire.NotExecutable, 6, "the endpoint's own command is not executable"},
	{127, wire.NotFound, 5, "the endpoint's own command was not found"},
	{129, wire.HungUp, 3, "hung up (SIGHUP); the peer is told first where its dialect has a word for it"},
	{130, wire.Interrupted, 3, "interrupted (SIGINT); the peer is told first likewise"},
	{141, wire.PipeClosed, 3, "stdout was closed (SIGPIPE); the peer is told first, likewise"},
	{143, wire.Terminated, 3, "terminated (SIGTERM); the peer is told first, likewise"},
}

// StatusOf returns the row of a failure's kind.
func StatusOf(kind wire.FaultKind) Status {
	for _, s := range statuses {
		if s.kind == kind {
			return s
		}
	}
	return StatusOf(wire.Internal)
}

// Worst returns the failure, of all that are joined in err, that decides the
// exit status; nil if err is nil.
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

// ToFault returns any error as a Fault; one of an unknown kind is reported as a
// defect of rpcx.
func ToFault(err error) *wire.Fault {
	if f := wire.AsFault(err); f != nil {
		return f
	}
	var rpc *wire.Error
	var closed *wire.CloseError
	switch {
	case errors.As(err, &rpc):
		return &wire.Fault{Kind: wire.RPCError, Message: rpc.Error(), RPC: rpc, Retryable: rpc.Retryable}
	case errors.As(err, &closed):
		return &wire.Fault{Kind: wire.Closed, Message: closed.Error(), Close: closed, Child: closed.Child}
	case errors.Is(err, context.DeadlineExceeded):
		return wire.NewFault(wire.Timeout, "out of time", err)
	case errors.Is(err, context.Canceled):
		return wire.NewFault(wire.Interrupted, "interrupted", err)
	case errors.Is(err, wire.ErrUnsupported):
		return wire.NewFault(wire.Usage, err.Error(), err)
	}
	return wire.NewFault(wire.Internal, err.Error(), err)
}

// Quiet reports whether nothing is printed for f because the status says enough:
// signals and a closed pipe.
func Quiet(f *wire.Fault) bool {
	return f.Kind == wire.PipeClosed || f.Kind == wire.Interrupted || f.Kind == wire.Terminated || f.Kind == wire.HungUp
}

// ExitStatuses returns the table as data, for the manual.
func ExitStatuses() []StatusDoc {
	var docs []StatusDoc
	for _, s := range statuses {
		docs = append(docs, StatusDoc{Code: s.Code, Name: string(s.kind), Meaning: s.meaning})
	}
	return docs
}

// CommandStatus is an error that only sets the exit status: that of the command
// that serve ran.
type CommandStatus struct {
	Code int
	Text string
}

// Error returns which command ended, and how.
func (e CommandStatus) Error() string { return e.Text }
