package peer

import (
	"errors"
	"fmt"
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// errOurs is the error of calls that were open when we closed the connection.
var errOurs = errors.New("the connection was closed here")

// closedFault returns the error of a call whose connection has ended with err; when
// says what it was doing, "" nothing.
func closedFault(err error, method, when string) *wire.Fault {
	var f *wire.Fault
	if errors.As(err, &f) {
		c := *f
		return withMethod(&c, method)
	}
	f = &wire.Fault{Kind: wire.Closed, Method: method, Err: err}
	what := "the connection ended"
	var ce *wire.CloseError
	switch {
	case errors.As(err, &ce):
		f.Close, f.Child, f.Err = ce, ce.Child, nil
		what = ce.Error()
	case err == errOurs:
		f.Err, what = nil, err.Error()
	case err == io.EOF:
		f.Close, f.Err = &wire.CloseError{Clean: true}, nil
		what = "the far side sends no more"
	case err != nil:
		what = "connection lost: " + err.Error()
	}
	f.Message = what
	if when != "" {
		f.Message += ", " + when
	}
	return f
}

// callFault is closedFault for a call that was under way.
func callFault(err error, s *stream) *wire.Fault {
	name := quoted(s.op.Method)
	switch {
	case s.op.Kind == dialect.Watch:
		return closedFault(err, s.op.Method, "")
	case s.waiting:
		return closedFault(err, s.op.Method, "before "+name+" was answered")
	}
	return closedFault(err, s.op.Method, "in the middle of the stream of "+name)
}

func withMethod(f *wire.Fault, method string) *wire.Fault {
	if f.Method == "" {
		f.Method = method
	}
	return f
}

// quoted names a method in a sentence.
func quoted(method string) string {
	if method == "" {
		return "the message"
	}
	return fmt.Sprintf("%q", method)
}

func failure(e *wire.Error) wire.Event { return wire.Event{Kind: wire.Failure, Final: true, Err: e} }

func noMethod(name string) *wire.Error {
	return wire.Errorf(wire.CodeNoMethod, "method not found: %s", name)
}
