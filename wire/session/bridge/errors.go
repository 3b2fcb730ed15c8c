package bridge

import (
	"context"
	"errors"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// crossing converts err into the form for the client.
func (r *responder) crossing(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return r.sayable(r.bridge.plainError(err))
}

// sayable returns e with a code that the listener's dialect allows.
func (r *responder) sayable(e *wire.Error) *wire.Error {
	switch string(e.Code) {
	case "-32603", "-32602", "-32601", "-32600", "-32001", "-32000":
		return e
	}
	if r.bridge.here.Bridge.TextCodes && scan.Type(e.Code) == 'n' {
		c := e.Clone()
		c.Code, c.Raw = scan.AppendQuoted(nil, string(e.Code)), nil
		return c
	}
	return e
}

// plainError returns an error of one side in the form for the other: unchanged between equal dialects.
func (b *Bridge) plainError(err error) *wire.Error {
	f := wire.AsFault(err)
	var rpc *wire.Error
	if errors.As(err, &rpc); rpc == nil && f != nil {
		rpc = f.RPC
	}
	if rpc != nil && b.spec.Name == b.here.Name && rpc.Code != nil && string(scan.Get(rpc.Raw, "code")) == string(rpc.Code) {
		return rpc.Clone()
	}
	return plainError(err)
}

// plainError converts an error of the peer into a form that every dialect allows: an integer code, a message and data. It moves other
// members into data.
func plainError(err error) *wire.Error {
	f := wire.AsFault(err)
	var rpc *wire.Error
	switch {
	case errors.As(err, &rpc):
	case f != nil && f.RPC != nil:
		rpc = f.RPC
	case f != nil:
		rpc = wire.NewError(wire.CodeServer, "the peer behind the bridge: "+f.Message)
	default:
		rpc = wire.NewError(wire.CodeInternal, err.Error())
	}
	e := &wire.Error{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data, Retryable: rpc.Retryable}
	if scan.Type(e.Code) != 'n' {
		var o scan.Object
		o.Add("code", rpc.Code)
		o.SomeText("kind", rpc.Kind)
		if rpc.Retryable != nil {
			o.Bool("retryable", *rpc.Retryable)
		}
		o.Add("data", rpc.Data)
		e.Code, e.Data = wire.NewError(wire.CodeServer, "").Code, o.EndOrNil()
	}
	e = e.Clone()
	e.Raw = (&wire.Error{Code: e.Code, Message: e.Message, Data: e.Data}).JSON()
	return e
}
