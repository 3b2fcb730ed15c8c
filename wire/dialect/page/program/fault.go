package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Public returns err in the form that a peer may see. If a program failed, this is an internal error that does not show the program, its
// path or its values.
func Public(err error) error {
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Helper {
		return wire.NewError(wire.CodeInternal, "internal error")
	}
	return err
}

// Failure returns err or, if a program has called fail, the Fault that names the program.
func Failure(err error) error {
	if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError && wire.AsFault(f.Err) != nil {
		return f.Err
	}
	return err
}

// OfPeer returns err or, if a program could not process a peer's message, a Fault of kind Protocol with the start of the message. A
// program that exceeds its time limit is no fault of the peer.
func OfPeer(msg json.RawMessage, err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Helper || errors.Is(err, errSlow) {
		return err
	}
	g := *f
	g.Kind, g.Message = wire.Protocol, f.Message+"; the peer sent "+wire.Excerpt(scan.Compact(nil, msg), 100)
	return &g
}

// errSlow is the cause of a program's failure that exceeds its time limit. It is not a context's error, which would look like a timeout of
// the peer.
var errSlow = errors.New("the program took too long")

// failed returns err as a Fault that names the program and its time limit. The error of fail becomes the peer's error
// response.
func (p *Program) failed(err error, limit time.Duration) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return &wire.Fault{Kind: wire.RPCError, RPC: e, Message: e.Error(), Err: p.Fault(e.Error(), e)}
	}
	what := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		what = "it took longer than " + limit.String()
		err = errSlow
	}
	return p.Fault(what, err)
}

// Fault returns the Fault for a failure of p, which names the program. The cause may be nil.
func (p *Program) Fault(what string, cause error) *wire.Fault {
	text := wire.Excerpt(p.text, 120)
	if p.member != "" {
		text = p.member + " (" + text + ")"
	}
	return wire.NewFault(wire.Helper, fmt.Sprintf("the dialect's program %s: %s", text, what), cause)
}
