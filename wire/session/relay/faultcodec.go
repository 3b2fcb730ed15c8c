package relay

import (
	"context"
	"encoding/json"
	"errors"

	"rpcx/wire"
)

// wireFault is a failure as it crosses the socket, in an error's data.
type wireFault struct {
	Kind        wire.FaultKind  `json:"kind"`
	Message     string          `json:"message"`
	Method      string          `json:"method,omitempty"`
	Retryable   *bool           `json:"retryable,omitempty"`
	Hint        string          `json:"hint,omitempty"`
	Fix         []string        `json:"fix,omitempty"`
	Code        int             `json:"close_code,omitempty"`
	Reason      string          `json:"close_reason,omitempty"`
	Clean       bool            `json:"close_clean,omitempty"`
	Child       *wire.Child     `json:"child,omitempty"`
	HTTP        *wire.HTTP      `json:"http,omitempty"`
	RPC         json.RawMessage `json:"rpc,omitempty"`
	Unsupported bool            `json:"unsupported,omitempty"`
}

// faultOf is err as it crosses the socket.
func faultOf(err error) wireFault {
	w := wireFault{Kind: wire.Internal, Message: err.Error()}
	var rpc *wire.Error
	switch f := wire.AsFault(err); {
	case f != nil:
		w.Kind, w.Method, w.Child, w.HTTP = f.Kind, f.Method, f.Child, f.HTTP
		w.Retryable, w.Hint, w.Fix = f.Retryable, f.Hint, f.Fix
		if f.Close != nil {
			w.Code, w.Reason, w.Clean = f.Close.Code, f.Close.Reason, f.Close.Clean
		}
		if f.RPC != nil {
			w.RPC = f.RPC.JSON()
		}
	case errors.As(err, &rpc):
		w.Kind, w.RPC = wire.RPCError, rpc.JSON()
	case errors.Is(err, context.DeadlineExceeded):
		w.Kind = wire.Timeout
	case errors.Is(err, context.Canceled):
		w.Kind, w.Message = wire.Closed, "the conversation ended" // it is nobody here who was interrupted
	case errors.Is(err, wire.ErrUnsupported):
		w.Kind, w.Unsupported = wire.Usage, true
	}
	return w
}

// fault makes the failure again.
func (w *wireFault) fault() error {
	if w.Unsupported {
		return wire.ErrUnsupported
	}
	f := &wire.Fault{
		Kind: w.Kind, Message: w.Message, Method: w.Method, Child: w.Child, HTTP: w.HTTP,
		Retryable: w.Retryable, Hint: w.Hint, Fix: w.Fix,
	}
	if w.Code != 0 || w.Reason != "" || w.Clean {
		f.Close = &wire.CloseError{Code: w.Code, Reason: w.Reason, Clean: w.Clean}
	}
	if w.RPC != nil {
		f.RPC = readError(w.RPC)
	}
	return f
}

// FaultJSON and FaultFrom take a failure from one process of ours to another.
func FaultJSON(err error) json.RawMessage { return JSON(faultOf(err)) }

// FaultFrom makes the failure again.
func FaultFrom(b json.RawMessage) error {
	var w wireFault
	if err := json.Unmarshal(b, &w); err != nil {
		return wire.NewFault(wire.Protocol, "the conversation sent what is no failure", err)
	}
	return w.fault()
}

// ToRPC makes an error for the socket of a failure; nil stays nil.
func ToRPC(err error) error {
	if err == nil {
		return nil
	}
	w := faultOf(err)
	e := wire.NewError(wire.CodeServer, w.Message)
	e.Data = JSON(map[string]wireFault{"fault": w})
	return e
}

// FromRPC makes the failure again of an error that came over the socket.
func FromRPC(err error) error {
	var rpc *wire.Error
	if !errors.As(err, &rpc) {
		return err
	}
	var data struct {
		Fault *wireFault `json:"fault"`
	}
	if json.Unmarshal(rpc.Data, &data) != nil || data.Fault == nil {
		return err
	}
	return data.Fault.fault()
}

// readError reads an error object.
func readError(raw json.RawMessage) *wire.Error {
	var o struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal(raw, &o)
	return &wire.Error{Code: o.Code, Message: o.Message, Data: o.Data, Raw: raw}
}
