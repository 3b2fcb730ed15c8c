package jsonrpc

import (
	"errors"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// maxTexts bounds the strings in a Texts.
const maxTexts = 256

var null = []byte("null")

// Decode returns the messages in raw. It allocates nothing for a message without an error.
func (c *codec) Decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	batch, bad := c.in.Read(raw)
	switch {
	case !scan.IsASCII(raw) && !utf8.Valid(raw):
		return c.garbled(raw, batch), false, nil
	case bad != nil:
		return c.tooDeep(raw, bad), false, nil
	}
	return c.in.Msgs, batch, nil
}

// element reads the message at raw[i], which may be any value, into m.
func (c *codec) element(raw []byte, i, depth int, m *wire.Message) (end int, err error) {
	if i < len(raw) && raw[i] == '{' {
		var f fields
		if end, err = f.read(raw, i, depth); err == nil {
			c.message(&f, raw[i:end], m)
		}
		return end, err
	}
	if end, err = scan.Value(raw, i, depth); err == nil {
		*m = Invalid(raw[i:end], nil, "a message must be an object")
	}
	return end, err
}

// tooDeep returns the message for an input that is not JSON or is nested too deeply. If the input is only nested too
// deeply, the message has its id, which lets the call fail on either side. The search for the id also has a limit on
// the nesting, which bounds the stack.
func (c *codec) tooDeep(raw []byte, bad error) []wire.Message {
	var was wire.Message
	deep, ok := errors.AsType[*scan.Error](bad)
	if i := scan.Skip(raw, 0); ok && deep.Deep && raw[i] == '{' {
		_, _ = c.element(raw, i, 64*c.o.MaxDepth, &was)
	}
	msgs := c.in.Broken(raw, bad.Error())
	if was.Kind == wire.Request || was.Kind == wire.Response {
		msgs[0].ID, msgs[0].Final = was.ID, was.Kind == wire.Response
	}
	return msgs
}

// garbled returns the message for an input that is not UTF-8. If the input is otherwise valid JSON, the message has the
// id of the answered call.
func (c *codec) garbled(raw []byte, batch bool) []wire.Message {
	var was wire.Message
	if !batch && len(c.in.Msgs) == 1 {
		was = c.in.Msgs[0]
	}
	msgs := c.in.Broken(raw, "invalid UTF-8")
	msgs[0].Method = strings.ToValidUTF8(was.Method, "\uFFFD")
	msgs[0].Final = was.Kind == wire.Response || was.Kind == wire.Invalid && was.Final
	if utf8.Valid(was.ID) {
		msgs[0].ID = was.ID
	}
	return msgs
}

// Invalid returns the Invalid message for JSON that is not a valid message. what is the reason, and id may be nil.
func Invalid(raw []byte, id wire.ID, what string) wire.Message {
	e := wire.NewError(wire.CodeInvalidRequest, "Invalid Request").WithData(what)
	return wire.Message{Kind: wire.Invalid, Raw: raw, ID: id, Err: e}
}

// message classifies the object in raw and sets the parts of m, a zero Message.
func (c *codec) message(f *fields, raw []byte, m *wire.Message) {
	failed := f.err != nil && !isNull(f.err)
	answer := f.result != nil || f.err != nil
	switch {
	case f.method == nil && answer, answer && f.id != nil && f.params == nil && (failed || f.result != nil):
		c.response(f, raw, failed, m)
	case f.method == nil:
		*m = Invalid(raw, IDOrNil(f.id), "neither a method nor a result nor an error")
	default:
		c.inbound(f, raw, m)
	}
}

// inbound reads a request or a notification into m.
func (c *codec) inbound(f *fields, raw []byte, m *wire.Message) {
	method, ok := c.methods.Of(f.method)
	m.Kind, m.ID, m.Method, m.Params, m.Body, m.Raw = wire.Request, f.id, method, f.params, f.params, raw
	two, wrong := string(f.version) == `"2.0"`, ""
	switch {
	case !ok:
		wrong = "the method is not a string"
	case f.id == nil, isNull(f.id) && !two:
		m.Kind, m.ID = wire.Notification, nil
	case !c.acceptsID(f.id):
		wrong = "the id is neither a string nor a number nor null"
	case f.version != nil && !two && string(f.version) != `"1.0"`:
		method, wrong = "", `jsonrpc is not "2.0"`
	case two && !c.o.AnyParams && !isParams(f.params):
		wrong = "params is neither an object nor an array"
	}
	if wrong != "" {
		*m = Invalid(raw, c.idOrNil(f.id), wrong)
		m.Method = method
		return
	}
	if isNull(f.params) {
		m.Params, m.Body = nil, nil
	}
	if m.Kind == wire.Notification {
		c.stream(m, f)
	}
}

// acceptsID reports whether a request may have the id.
func (c *codec) acceptsID(id []byte) bool { return c.o.AnyID || isID(id) || isNull(id) }

// isParams reports whether a value can be the params of a request. nil means no params.
func isParams(val []byte) bool {
	t := scan.Type(val)
	return val == nil || t == 'o' || t == 'a' || t == '0'
}

// response reads a response. A malformed one is Invalid and Final: it fails its call and gets no answer.
func (c *codec) response(f *fields, raw []byte, failed bool, m *wire.Message) {
	if f.id != nil && !isID(f.id) && !isNull(f.id) && !c.unusualIDs[string(scan.Minify(nil, f.id))] {
		*m = Invalid(raw, nil, "the id of a response is neither a string nor a number nor null")
		m.Final = true
		return
	}
	m.Kind, m.ID, m.Raw, m.Body = wire.Response, f.id, raw, f.result
	if len(c.unusualIDs) > 0 && f.id != nil {
		m.ID = scan.Minify(nil, f.id)
	}
	switch {
	case failed:
		m.Err, m.Body = f.failure(), nil
	case f.result == nil:
		m.Body = null
	}
}

// stream turns a notification that names a stream into an item, and one that cancels a request into a Cancel.
func (c *codec) stream(m *wire.Message, f *fields) {
	switch {
	case f.target != nil && m.Method == lspCancel && isID(f.target):
		m.Kind, m.Target = wire.Cancel, f.target
		return
	case f.stream == nil || !isID(f.stream):
		return
	}
	m.Kind, m.Stream, m.Final = wire.Item, f.stream, f.done
	switch {
	case f.itemErr != nil && !isNull(f.itemErr):
		m.Err = ReadError(f.itemErr)
		m.Body, m.Final = nil, !recovers(m.Err)
	case f.item != nil || f.done:
		m.Body = f.item
		m.Final = m.Final || isStop(f.item)
	}
}

// Texts interns short strings of messages, such as the names of methods, to allocate each only once. The zero value is
// empty.
type Texts struct {
	known  map[string]interned
	latest interned // the last of these strings
}

// An interned is a string as received and as text.
type interned struct{ token, text string }

// Of returns the text in token. It returns false if token is not a JSON string.
func (t *Texts) Of(token []byte) (string, bool) {
	if string(token) == t.latest.token { // the usual case in a stream
		return t.latest.text, true
	}
	if known, ok := t.known[string(token)]; ok {
		t.latest = known
		return known.text, true
	}
	s, ok := scan.Text(token)
	if ok && len(token) <= 256 {
		if len(t.known) >= maxTexts || t.known == nil {
			t.known = map[string]interned{}
		}
		t.latest = interned{string(token), s}
		t.known[t.latest.token] = t.latest
	}
	return s, ok
}
