package relay

import (
	"bytes"
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
	Kind   wire.Kind       `json:"kind"`
	Final  bool            `json:"final,omitempty"`
	Method string          `json:"method,omitempty"` // the method of an event that consists only of data
	At     []int           `json:"at,omitempty"`     // the index in the message at which the data begins, and the index at which it ends, if the event consists only of data
	Event  *wire.Event     `json:"event,omitempty"`  // any other event
	Fault  json.RawMessage `json:"fault,omitempty"`  // why no event could be decoded
	Msg    json.RawMessage `json:"msg,omitempty"`    // the message, if it contains no line break
	Text   *string         `json:"text,omitempty"`   // the message, if it contains a line break

	// Secrets contains the secrets of this process that occur in the message. The receiving process masks them on
	// stderr.
	Secrets []string `json:"secrets,omitempty"`
}

// pack returns the item for m and its event. err is the reason if there is no event.
func pack(m wire.Message, ev wire.Event, err error) json.RawMessage {
	p := packed{Kind: m.Kind, Final: m.Final, Secrets: redact.Repeated(m.Raw)}
	if at, ok := within(ev.Data, m.Raw); ok && err == nil {
		p.At = []int{at, at + len(ev.Data)}
	}
	switch {
	case err != nil:
		p.Fault = FaultJSON(err)
	case p.At == nil || !onlyData(ev) || ev.Final != m.Final:
		if p.At != nil {
			ev.Data = nil
		}
		p.Event = &ev
	default:
		p.Method = ev.Method
	}
	return p.withMessage(m.Raw)
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

// withMessage returns the item as JSON. raw is copied unchanged unless it contains a line break.
func (p packed) withMessage(raw []byte) json.RawMessage {
	o := scan.AppendObject(make([]byte, 0, 64+len(raw)))
	if p.Event == nil && p.Fault == nil && p.Secrets == nil { // the usual case
		o.Int("kind", int64(p.Kind))
		o.Bool("final", p.Final)
		o.SomeText("method", p.Method)
		if p.At != nil {
			at := strconv.AppendInt(append(make([]byte, 0, 48), '['), int64(p.At[0]), 10)
			at = strconv.AppendInt(append(at, ','), int64(p.At[1]), 10)
			o.Add("at", append(at, ']'))
		}
	} else {
		o.Inside(scan.JSON(p))
	}
	if bytes.ContainsAny(raw, "\n\r") {
		o.SomeText("text", string(raw))
	} else {
		o.Add("msg", raw)
	}
	return o.End()
}

// unpack decodes an item from the socket. If no event could be decoded, it returns that error.
func unpack(body json.RawMessage) (wire.Message, error) {
	p, err := packedOf(body)
	if err != nil || int(p.Kind) > int(wire.Handshake) {
		return wire.Message{}, wire.NewFault(wire.Protocol, "the process that owns the connection sent an invalid message", err)
	}
	redact.Sent(p.Secrets...)
	m := wire.Message{Kind: p.Kind, Final: p.Final, Raw: p.Msg}
	if p.Text != nil {
		m.Raw = []byte(*p.Text)
	}
	var data json.RawMessage
	if len(p.At) == 2 && 0 <= p.At[0] && p.At[0] <= p.At[1] && p.At[1] <= len(m.Raw) {
		data = json.RawMessage(m.Raw[p.At[0]:p.At[1]])
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

// This hand-written decoder handles most items, in a fraction of the time that encoding/json needs. Unusual items are
// left to encoding/json.

func packedOf(raw json.RawMessage) (p packed, err error) {
	usual := len(raw) > 0 && raw[0] == '{'
	for key, val := range scan.Members(raw) {
		ok := false
		switch string(key) {
		case "kind":
			n, err := strconv.ParseUint(string(val), 10, 8)
			p.Kind, ok = wire.Kind(n), err == nil
		case "final":
			p.Final, ok = boolOf(val)
		case "method":
			p.Method, ok = scan.Text(val)
		case "at":
			p.At, ok = placeOf(val)
		case "msg":
			p.Msg, ok = bytes.Clone(val), true
		case "text":
			var text string
			text, ok = scan.Text(val)
			p.Text = &text
		}
		if usual = usual && ok; !usual {
			break
		}
	}
	if !usual {
		p = packed{}
		err = json.Unmarshal(raw, &p)
	}
	return p, err
}

func placeOf(val []byte) ([]int, bool) {
	inside, ok := bytes.CutPrefix(val, []byte("["))
	inside, closed := bytes.CutSuffix(inside, []byte("]"))
	from, to, two := bytes.Cut(inside, []byte(","))
	a, err := strconv.Atoi(string(from))
	b, err2 := strconv.Atoi(string(to))
	return []int{a, b}, ok && closed && two && err == nil && err2 == nil
}

func boolOf(val []byte) (v, ok bool) {
	v = string(val) == "true"
	return v, v || string(val) == "false"
}

// An encodedFault is a failure in the form that is sent over the socket, as the data of an error.
type encodedFault struct {
	*wire.Fault
	Unsupported bool `json:"unsupported,omitempty"`
}

// encodeFault converts the Fault in err for the socket. The message is that of the whole err. It masks the secrets of this process,
// because the receiving process does not know them.
func encodeFault(err error) encodedFault {
	c := plainFault(err)
	f := c.Fault // a copy
	f.Message, f.Hint = redact.Known(f.Message), redact.Known(f.Hint)
	if f.RPC != nil {
		e := *f.RPC
		e.Message, e.Data, e.Raw, e.Hint = redact.Known(e.Message), maskedJSON(e.Data), maskedJSON(e.Raw), redact.Known(e.Hint)
		f.RPC = &e
	}
	if f.Close != nil {
		end := *f.Close
		end.Reason = redact.Known(end.Reason)
		f.Close = &end
	}
	return c
}

// maskedJSON masks the secrets in val. It returns nil if masking would make val invalid, because a number contains a
// secret.
func maskedJSON(val []byte) []byte {
	masked := redact.KnownBytes(val)
	if len(masked) > 0 && scan.Valid(masked, wire.DefaultMaxDepth) != nil {
		return nil
	}
	return masked
}

func plainFault(err error) encodedFault {
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
	return c
}

func (c encodedFault) failure() error {
	if c.Unsupported {
		return wire.ErrUnsupported
	}
	return c.Fault
}

// FaultJSON encodes a failure for another rpcx process. FaultFrom decodes it.
func FaultJSON(err error) json.RawMessage { return scan.JSON(encodeFault(err)) }

// FaultFrom decodes what FaultJSON has encoded.
func FaultFrom(b json.RawMessage) error {
	var c encodedFault
	if err := json.Unmarshal(b, &c); err != nil || c.Fault == nil {
		return wire.NewFault(wire.Protocol, "the process that owns the connection sent an invalid failure", err)
	}
	return c.failure()
}

// ToRPC converts a failure to an error response on the socket. It returns nil if err is nil.
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
