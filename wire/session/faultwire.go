package session

import (
	"context"
	"encoding/json"
	"errors"

	"rpcx/wire"
)

// wireFault is a failure as it crosses the socket, in an error's data.
type wireFault struct {
	Kind      wire.FaultKind  `json:"kind"`
	Message   string          `json:"message"`
	Method    string          `json:"method,omitempty"`
	Retryable *bool           `json:"retryable,omitempty"`
	Hint      string          `json:"hint,omitempty"`
	Code      int             `json:"close_code,omitempty"`
	Reason    string          `json:"close_reason,omitempty"`
	Child     *wire.Child     `json:"child,omitempty"`
	HTTP      *wire.HTTP      `json:"http,omitempty"`
	RPC       json.RawMessage `json:"rpc,omitempty"`
}

// toRPC makes an error for the socket of a failure; nil stays nil.
func toRPC(err error) error {
	if err == nil {
		return nil
	}
	w := wireFault{Kind: wire.Internal, Message: err.Error()}
	var rpc *wire.Error
	switch f := wire.AsFault(err); {
	case f != nil:
		w.Kind, w.Method, w.Child, w.HTTP = f.Kind, f.Method, f.Child, f.HTTP
		w.Retryable, w.Hint = f.Retryable, f.Hint
		if f.Close != nil {
			w.Code, w.Reason = f.Close.Code, f.Close.Reason
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
		w.Kind = wire.Usage
	}
	return wire.NewError(wire.CodeServer, w.Message).WithData(map[string]wireFault{"fault": w})
}

// fromRPC makes the failure again of an error that came over the socket.
func fromRPC(err error) error {
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
	w := data.Fault
	f := &wire.Fault{
		Kind: w.Kind, Message: w.Message, Method: w.Method, Child: w.Child, HTTP: w.HTTP,
		Retryable: w.Retryable, Hint: w.Hint,
	}
	if w.Code != 0 || w.Reason != "" {
		f.Close = &wire.CloseError{Code: w.Code, Reason: w.Reason}
	}
	if w.RPC != nil {
		f.RPC = readError(w.RPC)
	}
	return f
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
