// Package ending records how far the shutdown of a connection has progressed, and why it ended.
package ending

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"rpcx/wire"
)

// A State determines what a connection can still do. The states are listed in order; a connection can skip some but
// never returns to an earlier one.
type State uint8

const (
	Open    State = iota
	EOF           // the peer sends nothing more but still reads
	Closing       // about to close; no new operation can start
	Ended         // nothing can be sent
)

var (
	ErrOurs = errors.New("rpcx closed the connection")
	ErrLeft = errors.New("the peer closed the connection before its requests were answered")
)

// An Ending records how far the shutdown of a connection has progressed, and why it ended. The lock of the connection
// guards it.
//
// Its rules:
//   - State never moves back to an earlier state.
//   - The first reason is kept, unless the reader finds a better one (see Stop).
type Ending struct {
	State  State
	Ours   bool  // closed locally
	left   bool  // a local close began before the peer ended the connection
	Sealed error // why the peer accepts no more messages: it has already accepted the only response to its request
	Abort  error // the write error that ended the connection
	cause  error // why no more messages arrive; nil while they can
	final  error // what Err returns
}

// Leave records that a local close begins.
func (e *Ending) Leave() { e.left = e.left || e.cause == nil && e.Abort == nil }

// Remote returns how the peer ended the connection. It returns nil if a local close began first.
func (e *Ending) Remote() error {
	if e.left || e.cause == nil {
		return nil
	}
	return Fault(e.cause, "", "")
}

// Enter advances to s unless the state is already later.
func (e *Ending) Enter(s State) { e.State = max(e.State, s) }

// Live reports whether new operations may start.
func (e *Ending) Live() bool { return e.State < Closing }

// Stop records that reading ended with err, and returns the error for pending calls.
func (e *Ending) Stop(err error) error {
	if err == io.EOF || Broken(err) {
		e.Enter(EOF)
	} else {
		e.Enter(Closing)
	}
	switch {
	case e.Abort != nil && wire.AsFault(err) == nil:
		if ce, ok := errors.AsType[*wire.CloseError](err); !ok || ce.Child == nil && ce.Code == 0 { // a child's exit and a close code are more informative
			err = e.Abort
		}
	case e.Ours:
		err = ErrOurs
	}
	e.cause = err
	return err
}

// Finish records the end of the connection. err is the error that the reader got. A local close is the reason only if
// reading ended after it.
func (e *Ending) Finish(err error) {
	switch {
	case e.Ours && (e.cause == ErrOurs || e.Abort != nil) || err == io.EOF:
	case e.Abort != nil:
		e.final = Fault(e.Abort, "", "")
	case !Goodbye(err):
		e.final = Fault(err, "", "")
	}
}

// Err returns why the connection ended. It returns nil after a local close and after a clean end.
func (e *Ending) Err() error { return e.final }

// Fault returns the failure of a call that was not sent. If the reason for the end of the connection is not known, it
// uses why.
func (e *Ending) Fault(why error, method string) *wire.Fault {
	switch {
	case e.cause != nil:
		why = e.cause
	case why == nil && e.Ours:
		why = ErrOurs
	}
	return Fault(why, method, "before "+Quoted(method)+" was sent")
}

// Unwatched returns the failure of a watch that cannot start because no more messages arrive.
func (e *Ending) Unwatched(method string) *wire.Fault {
	if e.State == EOF {
		return Fault(io.EOF, method, "")
	}
	return Fault(e.cause, method, "")
}

// Fault returns the Fault for a connection that ended with err. when describes where the operation was interrupted, or
// is "".
func Fault(err error, method, when string) *wire.Fault {
	if f := wire.AsFault(err); f != nil {
		return f.WithMethod(method)
	}
	f := &wire.Fault{Kind: wire.Closed, Method: method, Err: err}
	what := "the connection ended"
	switch ce, ok := errors.AsType[*wire.CloseError](err); {
	case ok:
		f.Close, f.Child, f.Err = ce, ce.Child, nil
		what = ce.Error()
	case err == ErrOurs:
		f.Err, what = nil, err.Error()
	case err == io.EOF:
		f.Close, f.Err = &wire.CloseError{Clean: true}, nil
		what = "the peer has closed its sending side"
	case err != nil:
		what = "connection lost: " + err.Error()
	}
	f.Message = what
	if when != "" {
		f.Message += ", " + when
	}
	return f
}

// Quoted returns a method in quotes, for use in a sentence.
func Quoted(method string) string {
	if method == "" {
		return "the message"
	}
	return strconv.Quote(method)
}

// Goodbye reports whether the peer ended the connection properly, without an error.
func Goodbye(err error) bool {
	var ce *wire.CloseError
	return errors.As(err, &ce) && ce.Clean && wire.AsFault(err) == nil
}

// Broken reports whether err is a framing error, or a closed sending direction in the middle of a message. The peer may
// still be reading.
func Broken(err error) bool {
	f := wire.AsFault(err)
	return f != nil && f.Kind == wire.Protocol || errors.Is(err, wire.ErrCut)
}

// Code returns the WebSocket close code and reason that correspond to err.
func Code(err error) (code int, reason string) {
	f := wire.AsFault(err)
	switch {
	case f == nil || f.Kind != wire.Protocol:
		return 0, ""
	case f.Close != nil && f.Close.Code != 0:
		return f.Close.Code, f.Close.Reason
	}
	return 1002, strings.ToValidUTF8(f.Message[:min(len(f.Message), 120)], "")
}
