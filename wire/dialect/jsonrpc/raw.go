package jsonrpc

import (
	"bytes"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// raw passes a whole message on unchanged.
func (c *codec) raw(op dialect.Op) (wire.Message, error) {
	if err := scan.Valid(op.Params, c.o.MaxDepth); err != nil {
		return wire.Message{}, wire.NewFault(wire.Usage, "the message is not JSON: "+err.Error(), err)
	}
	raw := bytes.Clone(op.Params)
	m := wire.Message{Kind: wire.Notification, Raw: raw, Final: true}
	switch i := scan.Skip(raw, 0); raw[i] {
	case '{':
		var f fields
		if _, err := f.read(raw, i, c.o.MaxDepth); err == nil {
			m = wire.Message{}
			c.message(&f, raw, &m)
			c.ownID(&f, &m)
		}
	case '[':
	default:
		m = Invalid(raw, nil, "a message is an object")
	}
	m.Raw, m.Final = raw, true
	if m.Kind != wire.Request {
		if m.Kind == wire.Invalid && len(m.ID) > 0 { // any answer to it has that id
			m.Kind, m.Err = wire.Request, nil
			return m, nil
		}
		m.ID = nil
	}
	return m, nil
}

// ownID makes a request from m if its only problem is the type of its id.
func (c *codec) ownID(f *fields, m *wire.Message) {
	if m.Kind != wire.Invalid || m.Method == "" || f.id == nil || isID(f.id) || isNull(f.id) {
		return
	}
	if c.strange == nil {
		c.strange = map[string]bool{}
	}
	id := tight(f.id)
	c.strange[string(id)] = true
	*m = wire.Message{Kind: wire.Request, ID: id, Method: m.Method, Params: f.params, Body: f.params}
}

// tight returns a valid value without the blanks between its tokens.
func tight(val []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, val)
	return b.Bytes()
}
