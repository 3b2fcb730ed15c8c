package relay

import (
	"context"
	"encoding/json"
	"errors"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// An encodedFault is a failure in its form on the socket, in an error's data.
type encodedFault struct {
	*wire.Fault
	Unsupported bool `json:"unsupported,omitempty"` // it is wire.ErrUnsupported
}

// encodeFault converts err to its form on the socket: the Fault in err, with the message of the whole err.
func encodeFault(err error) encodedFault {
	c := encodedFault{Fault: wire.NewFault(wire.Internal, err.Error(), nil)}
	var rpc *wire.Error
	switch f := wire.AsFault(err); {
	case f != nil:
		g := *f
		g.Message = err.Error()
		c.Fault = &g
	case errors.As(err, &rpc):
		c.Kind, c.RPC = wire.RPCError, rpc
	case errors.Is(err, context.DeadlineExceeded):
		c.Kind = wire.Timeout
	case errors.Is(err, context.Canceled):
		c.Kind, c.Message = wire.Closed, "the conversation ended" // not Interrupted, because no user of the receiving process has interrupted it
	case errors.Is(err, wire.ErrUnsupported):
		c.Kind, c.Unsupported = wire.Usage, true
	}
	return c
}

// failure is the inverse of encodeFault.
func (c encodedFault) failure() error {
	if c.Unsupported {
		return wire.ErrUnsupported
	}
	return c.Fault
}

// FaultJSON encodes a failure for another process of rpcx, where FaultFrom decodes
// it.
func FaultJSON(err error) json.RawMessage { return scan.JSON(encodeFault(err)) }

// FaultFrom decodes the output of FaultJSON.
func FaultFrom(b json.RawMessage) error {
	var c encodedFault
	if err := json.Unmarshal(b, &c); err != nil || c.Fault == nil {
		return wire.NewFault(wire.Protocol, "the conversation sent an invalid failure", err)
	}
	return c.failure()
}

// ToRPC converts a failure to an error response for the socket. nil stays nil.
func ToRPC(err error) error {
	if err == nil {
		return nil
	}
	c := encodeFault(err)
	e := wire.NewError(wire.CodeServer, c.Message)
	e.Data = scan.JSON(map[string]encodedFault{"fault": c})
	return e
}

// FromRPC is the inverse of ToRPC.
func FromRPC(err error) error {
	var rpc *wire.Error
	if !errors.As(err, &rpc) {
		return err
	}
	var data struct {
		Fault encodedFault `json:"fault"`
	}
	if json.Unmarshal(rpc.Data, &data) != nil || data.Fault.Fault == nil {
		return err
	}
	return data.Fault.failure()
}
