package relay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// A packed is a message, with its event, in the form of an item on the socket. Only the process that owns the
// connection has the state to decode the message.
type packed struct {
	Kind     wire.Kind
	Final    bool
	Method   string // the method of an event that consists only of data
	From, To int    // the indexes in the message at which the data of the event begins and ends; To is 0 if the message does not contain the data
	Msg      []byte
	rare
}

// rare contains what few items have.
type rare struct {
	Event *wire.Event     `json:"event,omitempty"` // an event that does not consist only of data
	Fault json.RawMessage `json:"fault,omitempty"` // why no event could be decoded
	Text  string          `json:"text,omitempty"`  // the message, if it contains a line break

	// Secrets contains the secrets of this process that occur in the message. The receiving process masks them on
	// stderr.
	Secrets []string `json:"secrets,omitempty"`
}

// pack returns the item for m and its event. err is the reason if there is no event.
func pack(m wire.Message, ev wire.Event, err error) json.RawMessage {
	p := packed{Kind: m.Kind, Final: m.Final, Msg: m.Raw, rare: rare{Secrets: redact.Repeated(m.Raw)}}
	at, ok := within(ev.Data, m.Raw)
	if ok && err == nil {
		p.From, p.To = at, at+len(ev.Data)
	}
	switch {
	case err != nil:
		p.Fault = FaultJSON(err)
	case !ok || !onlyData(ev) || ev.Final != m.Final:
		if ok {
			ev.Data = nil
		}
		p.Event = &ev
	default:
		p.Method = ev.Method
	}
	return p.json()
}

// onlyData reports whether ev consists only of data and perhaps a method.
func onlyData(ev wire.Event) bool {
	return ev.Kind == wire.Data && ev.ContentType == "" && ev.Seq == nil && ev.Time == nil && ev.Job == nil && ev.Source == nil && ev.Extra == nil
}

// within returns the place of data in raw. data must be a sub-slice of raw; otherwise ok is false.
func within(data, raw []byte) (at int, ok bool) {
	if len(data) == 0 {
		return 0, false
	}
	at = cap(raw) - cap(data)
	return at, at >= 0 && at+len(data) <= len(raw) && &raw[at] == &data[0]
}

// json returns the item as JSON. It copies the message unchanged, unless the message contains a line break.
func (p packed) json() json.RawMessage {
	o := scan.AppendObject(make([]byte, 0, 80+len(p.Msg)))
	o.Int("kind", int64(p.Kind))
	o.Bool("final", p.Final)
	o.SomeText("method", p.Method)
	if p.To > 0 {
		o.Int("from", int64(p.From))
		o.Int("to", int64(p.To))
	}
	if bytes.ContainsAny(p.Msg, "\n\r") {
		p.Text, p.Msg = string(p.Msg), nil
	}
	if p.Event != nil || p.Fault != nil || p.Text != "" || p.Secrets != nil {
		o.Add("rare", scan.JSON(p.rare))
	}
	o.Add("msg", p.Msg)
	return o.End()
}

// unpack decodes an item from the socket. If no event could be decoded, it returns that error.
func unpack(body json.RawMessage) (wire.Message, error) {
	p, err := packedOf(body)
	if err != nil || p.Kind > wire.Handshake {
		return wire.Message{}, wire.NewFault(wire.Protocol, "the process that owns the connection sent an invalid message", err)
	}
	redact.Sent(p.Secrets...)
	m := wire.Message{Kind: p.Kind, Final: p.Final, Raw: p.Msg}
	if p.Text != "" {
		m.Raw = []byte(p.Text)
	}
	var data json.RawMessage
	if 0 <= p.From && p.From < p.To && p.To <= len(m.Raw) {
		data = json.RawMessage(m.Raw[p.From:p.To])
	}
	switch {
	case p.Fault != nil:
		return m, FaultFrom(p.Fault)
	case p.Event != nil:
		ev := *p.Event
		if ev.Kind >= wire.Opened || ev.Kind == wire.Failure && ev.Err == nil {
			return wire.Message{}, wire.NewFault(wire.Protocol, "the process that owns the connection sent an invalid event", nil)
		}
		if data != nil {
			ev.Data = data
		}
		m.Event = &ev
	case data != nil:
		m.Event = &wire.Event{Kind: wire.Data, Final: m.Final, Method: p.Method, Data: data}
	default:
		return m, nil
	}
	m.Body, m.Err = m.Event.Data, m.Event.Err
	return m, nil
}

// packedOf decodes an item. encoding/json, which is slow, decodes only what few items have.
func packedOf(raw json.RawMessage) (p packed, err error) {
	number := func(val []byte, bits int) int {
		n, bad := strconv.ParseUint(string(val), 10, bits)
		err = cmp.Or(err, bad)
		return int(n)
	}
	for key, val := range scan.Members(raw) {
		switch string(key) {
		case "kind":
			p.Kind = wire.Kind(number(val, 8))
		case "final":
			p.Final = string(val) == "true"
		case "method":
			p.Method = scan.String(val)
		case "from":
			p.From = number(val, 31)
		case "to":
			p.To = number(val, 31)
		case "rare":
			err = cmp.Or(err, json.Unmarshal(val, &p.rare))
		case "msg":
			p.Msg = bytes.Clone(val)
		}
	}
	return p, err
}

// An encodedFault is a failure in the form that is sent over the socket, as the data of an error.
type encodedFault struct {
	*wire.Fault
	Unsupported bool     `json:"unsupported,omitempty"`
	Secrets     []string `json:"secrets,omitempty"` // see rare.Secrets
}

// encodeFault converts the Fault in err for the socket. The message is that of the whole err.
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
		c.Kind, c.Message = wire.Closed, "the conversation ended" // not Interrupted, because the user of the receiving process has not interrupted it
	case errors.Is(err, wire.ErrUnsupported):
		c.Kind, c.Unsupported = wire.Usage, true
	}
	c.Secrets = redact.Repeated(scan.JSON(c.Fault))
	return c
}

// FaultJSON encodes a failure for another rpcx process. FaultFrom decodes it.
func FaultJSON(err error) json.RawMessage { return scan.JSON(encodeFault(err)) }

// FaultFrom decodes what FaultJSON has encoded.
func FaultFrom(b json.RawMessage) error {
	var c encodedFault
	if err := json.Unmarshal(b, &c); err != nil || c.Fault == nil {
		return wire.NewFault(wire.Protocol, "the process that owns the connection sent an invalid failure", err)
	}
	redact.Sent(c.Secrets...)
	if c.Unsupported {
		return wire.ErrUnsupported
	}
	return c.Fault
}

// ToRPC converts a failure to an error response on the socket. It returns nil if err is nil.
func ToRPC(err error) error {
	if err == nil {
		return nil
	}
	c := encodeFault(err)
	e := wire.NewError(wire.CodeServer, c.Message)
	e.Data = scan.Pair("fault", scan.JSON(c))
	return e
}

// FromRPC is the inverse of ToRPC.
func FromRPC(err error) error {
	if rpc, ok := errors.AsType[*wire.Error](err); ok {
		if fault := scan.Get(rpc.Data, "fault"); scan.Type(fault) == 'o' { // null stands for a failure that has no JSON
			return FaultFrom(fault)
		}
	}
	return err
}
