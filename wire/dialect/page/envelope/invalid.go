package envelope

import (
	"rpcx/wire"
	"rpcx/wire/scan"
)

// broken returns an Invalid message for input that is not JSON.
func (c *codec) broken(raw []byte, what string) []wire.Message {
	clear(c.msgs)
	e := wire.NewError(wire.CodeParse, "Parse error").WithData(what)
	c.msgs = append(c.msgs[:0], wire.Message{Kind: wire.Invalid, Raw: raw, Err: e})
	return c.msgs
}

func invalid(raw []byte, id wire.ID, what string) wire.Message {
	e := wire.NewError(wire.CodeInvalidRequest, "Invalid Request").WithData(what)
	return wire.Message{Kind: wire.Invalid, Raw: raw, ID: id, Err: e}
}

func idOrNil(id []byte) wire.ID {
	if t := scan.Type(id); t == 's' || t == 'n' {
		return id
	}
	return nil
}

func notNull(val []byte) []byte {
	if string(val) == "null" {
		return nil
	}
	return val
}
