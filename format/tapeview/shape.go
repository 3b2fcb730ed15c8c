package tapeview

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A shape describes the role of a message in its protocol (request, response or item), and contains its id. It depends
// only on the members of the message, because a tape has no connection state. The members of JSON-RPC take precedence
// over those that other dialects use.
type shape struct {
	kind   Kind
	name   string
	id     []byte // the id of a call or of its response, or nil
	stream []byte // the id of the stream that an item belongs to
	body   json.RawMessage
	failed bool
	final  bool
	why    string // why the kind is Broken
}

// wrappers are methods whose params name another method to call. The name that is shown contains both.
var wrappers = []string{"invoke", "command_call", "command_describe", "tools/call", "prompts/get"}

func (r *reader) shapeOf(msg []byte) shape {
	if r.own != nil {
		if s := ownShape(r.own(msg)); s.kind != Broken {
			return s
		}
	}
	return shapeOf(r.header.Dialect, msg)
}

// ownShape returns the shape of a message that was read by its dialect.
func ownShape(m wire.Message) shape {
	s := shape{name: m.Method, id: m.ID, body: json.RawMessage(m.Body)}
	switch m.Kind {
	case wire.Request:
		s.kind = Call
	case wire.Notification:
		s.kind = Notification
	case wire.Response, wire.Item:
		if s.kind = Answer; m.Kind == wire.Item {
			s.kind, s.stream = Item, m.ID
		}
		if m.Err != nil {
			s.failed, s.body = true, m.Err.JSON()
		}
	default:
		s.kind = Broken
	}
	return s
}

// shapeOf returns the shape of a message in the named dialect.
func shapeOf(dialect string, obj []byte) shape {
	s := bareShape(dialect, obj)
	if s.kind == Call && slices.Contains(wrappers, s.name) {
		if name, ok := scan.Text(scan.Get(s.body, "name")); ok && name != "" {
			s.name += " " + name
		}
	}
	return s
}

func bareShape(dialect string, obj []byte) shape {
	if scan.Type(obj) != 'o' {
		return shape{kind: Broken, why: "a message must be an object"}
	}
	f := membersOf(obj)
	if read := oddShapes[dialect]; read != nil {
		if s, ok := read(obj, f); ok {
			return s
		}
	}
	switch {
	case f["method"] != nil && (f.has("params") || f["result"] == nil && f["error"] == nil):
		return f.asked()
	case f["result"] != nil || f["error"] != nil:
		return f.answered()
	case f["method"] != nil:
		return f.asked()
	}
	for _, odd := range []string{"dap", "qmp"} { // the tape may not name its dialect
		if s, ok := oddShapes[odd](obj, f); ok {
			return s
		}
	}
	return shape{kind: Broken, body: obj, why: "neither a method nor a result nor an error"}
}

// fields are the members of an object by name. If a member is repeated, the last one counts.
type fields map[string][]byte

func membersOf(obj []byte) fields { return maps.Collect(scan.Named(obj)) }

func (f fields) has(name string) bool { return f[name] != nil }

// text returns the string in a member, or "".
func (f fields) text(name string) string { return scan.String(f[name]) }

// given returns a member, or nil if its value is null.
func (f fields) given(name string) json.RawMessage {
	if v := f[name]; scan.Type(v) != '0' {
		return v
	}
	return nil
}

// asked returns the shape of a JSON-RPC request, notification or item. An item is a notification whose params contain
// the id of a stream.
func (f fields) asked() shape {
	s := shape{kind: Call, name: f.text("method"), id: f.given("id"), body: f["params"]}
	if s.id != nil {
		return s
	}
	s.kind = Notification
	if scan.Type(s.body) != 'o' {
		return s
	}
	params := membersOf(s.body)
	for _, name := range []string{"subscription", "subscription_id", "subscriptionId"} {
		if t := scan.Type(params[name]); t == 's' || t == 'n' {
			s.kind, s.stream = Item, params[name]
		}
	}
	if s.kind == Item {
		params.item(&s)
	}
	return s
}

// item reads the params of an item.
func (f fields) item(s *shape) {
	s.final = string(f["done"]) == "true" || string(scan.Get(f["result"], "type")) == `"done"`
	switch {
	case f.given("error") != nil:
		s.body, s.failed, s.final = f["error"], true, true
	case f.has("result"):
		s.body = f["result"]
	}
}

func (f fields) answered() shape {
	s := shape{kind: Answer, id: f.given("id"), body: f["result"]}
	if err := f.given("error"); err != nil {
		s.failed, s.body = true, err
	}
	return s
}

// oddShapes read the messages of dialects that differ from JSON-RPC. If one of these functions returns false, the rules
// of JSON-RPC apply.
var oddShapes = map[string]func(obj []byte, f fields) (shape, bool){
	"hotrepl": hotreplShape,
	"dap":     dapShape,
	"qmp":     qmpShape,
}

// hotreplShape reads a HotRepl message. The type is the method. In a response, it ends with _result or _error. The
// values of a subscription have the id of the request that started it.
func hotreplShape(obj []byte, f fields) (shape, bool) {
	kind := f.text("type")
	if kind == "" {
		return shape{}, false
	}
	s := shape{kind: Call, name: kind, id: f.given("id"), body: scan.Without(obj, "type", "id")}
	switch {
	case kind == "handshake":
		s.kind = Handshake
	case s.id == nil:
		s.kind, s.failed = Notification, kind == "error"
	case kind == "subscribe_result", kind == "subscribe_error":
		s.kind, s.stream, s.failed = Item, s.id, kind == "subscribe_error"
		s.final = string(f["final"]) == "true"
	case strings.HasSuffix(kind, "_error"), kind == "error":
		s.kind, s.failed = Answer, true
	case strings.HasSuffix(kind, "_result"), kind == "job_accepted":
		s.kind, s.failed = Answer, f.text("status") == "failed"
	}
	return s, true
}

// dapShape reads a message of the Debug Adapter Protocol, in which type distinguishes requests, responses and events.
func dapShape(_ []byte, f fields) (shape, bool) {
	switch f.text("type") {
	case "request":
		return shape{kind: Call, name: f.text("command"), id: f["seq"], body: f["arguments"]}, f.has("command")
	case "response":
		s := shape{kind: Answer, id: f["request_seq"], body: f["body"], failed: string(f["success"]) == "false"}
		if s.failed && s.body == nil {
			s.body = f["message"]
		}
		return s, f.has("request_seq")
	case "event":
		return shape{kind: Notification, name: f.text("event"), body: f["body"]}, f.has("event")
	}
	return shape{}, false
}

// qmpShape reads a message of the QEMU Machine Protocol. Calls without an id get null as a placeholder: they are answered in
// order, and only one is open at a time.
func qmpShape(_ []byte, f fields) (shape, bool) {
	for _, word := range []string{"execute", "exec-oob"} {
		if f.has(word) {
			return shape{kind: Call, name: f.text(word), id: scan.OrNull(f["id"]), body: f["arguments"]}, true
		}
	}
	switch {
	case f.has("return"):
		return shape{kind: Answer, id: scan.OrNull(f["id"]), body: f["return"]}, true
	case !f.has("jsonrpc") && scan.Type(f["error"]) == 'o' && scan.Get(f["error"], "class") != nil:
		return shape{kind: Answer, id: scan.OrNull(f["id"]), body: f["error"], failed: true}, true
	case f.has("event"):
		return shape{kind: Notification, name: f.text("event"), body: f["data"]}, true
	case f.has("QMP"):
		return shape{kind: Handshake, name: "QMP", body: f["QMP"]}, true
	}
	return shape{}, false
}

// streamNamed returns the id of a stream from the result of a call: the result itself if it is a string or a number, or
// the member with the id of a subscription if it is an object. Otherwise it returns "".
func streamNamed(result []byte) string {
	switch scan.Type(result) {
	case 's', 'n':
		if len(result) <= 200 {
			return string(result)
		}
	case 'o':
		for _, name := range []string{"subscription", "subscription_id", "subscriptionId"} {
			if v := scan.Get(result, name); v != nil {
				return string(v)
			}
		}
	}
	return ""
}
