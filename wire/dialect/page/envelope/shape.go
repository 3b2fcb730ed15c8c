package envelope

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// A shape reads a plan's messages outside of a conversation.
type shape struct {
	plan   *Plan
	codecs sync.Pool
}

// Shape returns an OwnShape for c's messages. It returns nil if messages have no ids, because only a conversation can match
// these.
func (c *Plan) Shape() dialect.OwnShape {
	if c.names.IDs == "none" {
		return nil
	}
	s := &shape{plan: c}
	s.codecs.New = func() any { return New(c, Options{}) }
	return s
}

// Read classifies a message.
func (s *shape) Read(msg []byte) wire.Message {
	c := s.codecs.Get().(*codec)
	defer s.codecs.Put(c)
	if s.plan.isHeartbeat(msg) {
		return wire.Message{Kind: wire.Notification, Method: "heartbeat", Raw: msg}
	}
	m, _ := c.only(msg)
	switch m.Kind {
	case wire.Request, wire.Notification:
		return m
	case wire.Cancel:
		m.Kind, m.ID = wire.Notification, nil
		return m
	case wire.Response, wire.Item:
		if len(m.ID) > 0 {
			m.Kind, m.Method = wire.Response, ""
			return m
		}
	}
	return wire.Message{}
}

// only returns the only message in raw. ok is false if raw is a batch, or a program fails.
func (c *codec) only(raw []byte) (m wire.Message, ok bool) {
	msgs, batch, err := c.Decode(raw)
	if err != nil || batch {
		return m, false
	}
	return msgs[0], true
}

// isHeartbeat reports whether a message is a heartbeat, of either side.
func (c *Plan) isHeartbeat(msg []byte) bool {
	for _, rule := range []*load.Beat{c.page.Alive.Client, c.page.Alive.Server} {
		if rule == nil || rule.Is == nil {
			continue
		}
		if is, err := rule.Is.Holds(msg, (&program.Scope{}).Value); is && err == nil {
			return true
		}
	}
	return false
}

// Unnumbered returns a function that reads c's messages outside of a conversation, if they have no ids. It gives requests and their
// responses the id null. It returns nil if messages have ids.
func (c *Plan) Unnumbered() func(msg []byte) wire.Message {
	if c.names.IDs != "none" {
		return nil
	}
	null := wire.ID("null")
	return func(msg []byte) wire.Message {
		one := New(c, Options{}).(*codec)
		one.ours.open = []wire.ID{null} // a response needs a pending request
		m, _ := one.only(msg)
		switch m.Kind {
		case wire.Request, wire.Response, wire.Item:
			m.ID = null
		case wire.Cancel:
			m.Kind = wire.Notification
		}
		return m
	}
}

// SetID returns msg with another id.
func (s *shape) SetID(msg []byte, id wire.ID) []byte {
	at := s.plan.request.id.path
	if s.Read(msg).Kind == wire.Response {
		at = s.plan.response.id.path
	}
	return spliced(msg, at, id)
}

// spliced returns msg with the value at a path replaced by val.
func spliced(msg []byte, path []string, val []byte) []byte {
	switch {
	case len(path) == 0 || scan.Type(msg) != 'o' && scan.Type(msg) != 'a':
		return msg
	case len(path) > 1:
		val = spliced(Below(msg, path[0]), path[1:], val)
	}
	if val == nil {
		return msg
	}
	return scan.Splice(msg, path[0], val)
}

// Templates returns an error response and a response with the result true as the plan writes them, with $id, $code,
// $message and $data in place of values.
func (c *Plan) Templates() (failed, ended string) {
	write := func(ev wire.Event) string {
		replies, err := New(c, Options{}).Reply(wire.Message{Kind: wire.Request, ID: wire.ID(`"$id"`)}, ev)
		if err != nil || len(replies) != 1 {
			return ""
		}
		msg := replies[0]
		for _, name := range []string{"$id", "$code", "$message", "$data"} {
			msg = bytes.ReplaceAll(msg, []byte(`"`+name+`"`), []byte(name))
		}
		return string(msg)
	}
	e := &wire.Error{Code: json.RawMessage(`"$code"`), Message: "$message", Data: json.RawMessage(`"$data"`)}
	return write(wire.Event{Kind: wire.Failure, Final: true, Err: e}), write(wire.Event{Kind: wire.Data, Final: true, Data: json.RawMessage("true")})
}

// TakesErrors reports whether a client would read an error response, in the form of the dialect file or of its base, as a
// result. It returns false if no response can be made for a test.
func (c *Plan) TakesErrors() bool {
	if c.page.Call != nil && c.page.Call.Error != nil { // this program finds the errors in results
		return false
	}
	if c.page.Base == "none" && !c.knowsErrors() {
		return true
	}
	m, ok := c.readBack(wire.NewError(wire.CodeInternal, "internal error"))
	return ok && m.Kind == wire.Response && m.Err == nil
}

// ErrorMembers reports whether a client can read the code and the data in a server's error.
func (c *Plan) ErrorMembers() (code, data bool) {
	e := wire.NewError(wire.CodeRefused, "refused").WithData("data")
	m, ok := c.readBack(e)
	if !ok || m.Err == nil {
		return false, false
	}
	return string(m.Err.Code) == string(e.Code), string(m.Err.Data) == string(e.Data)
}

// readBack returns the message that a client reads if a server responds with e. ok is false if the plan cannot write or
// read such a response.
func (c *Plan) readBack(e *wire.Error) (m wire.Message, ok bool) {
	one := New(c, Options{}).(*codec)
	req, err := one.Encode(dialect.Op{Kind: dialect.Call, Method: "m"})
	if err != nil {
		return m, false
	}
	replies, err := one.Reply(req, wire.Event{Kind: wire.Failure, Final: true, Err: e})
	if err != nil || len(replies) != 1 {
		return m, false
	}
	return one.only(replies[0])
}

// knowsErrors reports whether the plan can recognize error responses.
func (c *Plan) knowsErrors() bool {
	r := &c.response
	return c.okAt.head >= 0 || r.fail.head >= 0 || slices.ContainsFunc(c.page.Read, func(r load.Read) bool { return r.Error != nil }) ||
		r.id.head < 0 && r.result.head < 0 && !slices.ContainsFunc(c.page.Read, func(r load.Read) bool { return r.Kind == "response" })
}

// IDs returns the JSON pointers of the ids in requests and responses.
func (c *Plan) IDs() (pointers []string) {
	for _, at := range []place{c.request.id, c.response.id} {
		if at.head >= 0 {
			pointers = append(pointers, "/"+strings.Join(wire.Map(at.path, scan.Escape), "/"))
		}
	}
	return pointers
}
