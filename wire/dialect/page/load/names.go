package load

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Names defines the names of the members of messages.
type Names struct {
	Request   Members          `toml:"request" says:"the names of the members method, params and id of a request; also const and forbidden"`
	Response  Members          `toml:"response" says:"the names of the members id, result, error, code, message and data (usually inside error), method (the method of the request) and more of a response; also const and forbidden"`
	Event     Members          `toml:"event" says:"the names of the members method and params of a notification; also const and forbidden"`
	Const     Consts           `toml:"const" says:"members with constant values in all messages"`
	Stream    Consts           `toml:"stream" says:"members with constant values in requests for a stream (rpcx subscribe). They replace members of request.const with the same names. A server sends a stream only in response to such requests"`
	Forbidden Texts            `toml:"forbidden" says:"members that messages must not have, such as the base's jsonrpc. rpcx does not send them, and rejects messages with them"`
	OK        *OK              `toml:"ok" says:"the member whose value distinguishes results from errors"`
	Params    string           `toml:"params" of:"object|array|one|flat|prefixed" says:"rpcx sends params unchanged (object, the default), as an array (array), as an array of one element (one), as members of the message (flat), or as an array that begins with the method (prefixed)"`
	Order     map[string]Texts `toml:"order" says:"METHOD = the names of its parameters, in the order of the array on the wire. Users and hooks use an object. METHOD may be a pattern"`
	None      string           `toml:"none" of:"omit|{}|[]|null" says:"what rpcx sends for a call without params (by default, omit)"`
	IDs       string           `toml:"ids" of:"integer|string|none" says:"the type of ids (by default, integer). With none, responses arrive in the order of their requests"`
	Counter   string           `toml:"counter" of:"calls|all" says:"ids count requests (calls, the default), or every message sent (all)"`
	Batches   bool             `toml:"batches" says:"If true, an array is a batch of messages"`
	Extra     Texts            `toml:"extra" says:"extra top-level members. Users set them with --set NAME=VALUE, events have them in extra, and a response repeats the extra members of its request"`
	Sentinel  bool             `toml:"sentinel" says:"If true, a message begins after a 0xFF byte, and rpcx ignores the part of the line before that byte"`
}

// Members defines the member names for one kind of message. Each name is a dotted path.
type Members struct {
	Method  string `toml:"method" says:"the method"`
	Params  string `toml:"params" says:"the params"`
	ID      string `toml:"id" says:"the id"`
	Result  string `toml:"result" says:"the result"`
	Error   string `toml:"error" says:"the error, which is present if the call failed"`
	Code    string `toml:"code" says:"the error's code"`
	Message string `toml:"message" says:"the error's message. If code names the same member, that member contains the code if it is a string (such as an error's name), and otherwise the message"`
	Data    string `toml:"data" says:"further data about the error"`
	More    string `toml:"more" says:"a member that is true in a response if further responses to the same request follow. Each response is then an item"`
	Const   Consts `toml:"const" says:"members with constant values that identify such messages"`

	Forbidden Texts `toml:"forbidden" says:"members that such messages never have; their absence identifies the messages"`
}

// Consts contains members with constant values.
type Consts map[string]any

// OK names the member that distinguishes results from errors.
type OK struct {
	At string `toml:"at" says:"the member"`
	Is any    `toml:"is" says:"the value of that member in a message with a result"`
}

// AllNames returns the names in the dialect file. Names that the file does not define are those of its base.
func (p *Page) AllNames() Names {
	n := baseNames(p.Base)
	if p.Names != nil {
		n.merge(*p.Names)
	}
	if n.Event.Method == "" {
		n.Event.Method, n.Event.Params = n.Request.Method, n.Request.Params
	}
	n.Response.ID = cmp.Or(n.Response.ID, n.Request.ID)
	for _, m := range []*Members{&n.Request, &n.Response, &n.Event} {
		all := Consts{}
		maps.Copy(all, n.Const)
		maps.Copy(all, m.Const)
		m.Const = all
	}
	return n
}

// baseNames returns the member names in messages of a base.
func baseNames(base string) Names {
	if base == "none" {
		return Names{}
	}
	n := Names{
		Request:  Members{Method: "method", Params: "params", ID: "id"},
		Response: Members{ID: "id", Result: "result", Error: "error"},
		Event:    Members{Method: "method", Params: "params"},
		Batches:  true,
	}
	if base == "jsonrpc" {
		two := Consts{"jsonrpc": "2.0"}
		n.Request.Const, n.Response.Const, n.Event.Const = two, two, two
	} else {
		n.None = "[]"
	}
	return n
}

// merge replaces names in n with those that a dialect file defines.
func (n *Names) merge(more Names) {
	for _, pair := range []struct{ to, from *Members }{{&n.Request, &more.Request}, {&n.Response, &more.Response}, {&n.Event, &more.Event}} {
		for i, to := range pair.to.paths() {
			*to.path = cmp.Or(*pair.from.paths()[i].path, *to.path)
		}
		pair.to.Forbidden = pair.from.Forbidden
		if pair.from.Const != nil {
			pair.to.Const = pair.from.Const
		} else { // members that the dialect file forbids remove constants of the base
			pair.to.Const = maps.Clone(pair.to.Const)
			maps.DeleteFunc(pair.to.Const, func(name string, _ any) bool {
				return slices.Contains(more.Forbidden, name) || slices.Contains(pair.to.Forbidden, name)
			})
		}
	}
	n.OK, n.Const, n.Forbidden = more.OK, more.Const, more.Forbidden
	n.Batches = n.Batches || more.Batches
	n.Params, n.None = cmp.Or(more.Params, n.Params), cmp.Or(more.None, n.None)
	n.IDs, n.Counter, n.Extra = more.IDs, more.Counter, more.Extra
	n.Stream, n.Order = more.Stream, more.Order
}

// rules returns the rules against names that contradict each other.
func (Names) rules(p *Page) []rule {
	n := p.AllNames()
	code, message := n.Response.Code, n.Response.Message
	list := []rule{{
		"response.code", p.Write.Error == nil && code != "" && message != "" && code != message && (within(code, message) || within(message, code)),
		fmt.Sprintf("code and message of an error overlap at %q: name two separate members, or one for both, or write errors with write.error", message),
	}}
	if n.OK != nil {
		list = append(list, rule{"ok", n.OK.At == "" || n.OK.Is == nil, `expected "at" and "is": the member, and its value in a message with a result`})
	}
	for _, kind := range []struct {
		name string
		m    Members
	}{{"request", n.Request}, {"response", n.Response}, {"event", n.Event}} {
		used := kind.m.used("names." + kind.name)
		if kind.name == "response" && n.OK != nil {
			used[n.OK.At] = "names.ok.at"
		}
		list = append(list, paths(kind.name, used, &kind.m)...)
		list = append(list, forbid("forbidden", n.Forbidden, used)...)
		list = append(list, forbid(kind.name+".forbidden", kind.m.Forbidden, used)...)
	}
	beside := map[string]string{}
	for _, name := range n.Extra {
		beside[name] = "names.extra"
	}
	return append(list, forbid("forbidden", n.Forbidden, beside)...)
}

// paths returns the rules for the paths in one kind of message: each is valid, and no constant is in the place of the
// method.
func paths(kind string, used map[string]string, m *Members) (list []rule) {
	for _, path := range slices.Sorted(maps.Keys(used)) {
		list = append(list, rule{kind, strings.Contains("."+path+".", ".."), fmt.Sprintf("%q is not the path of a member", path)})
	}
	for name := range m.Const {
		list = append(list, rule{kind + ".const", m.Method != "" && (within(m.Method, name) || within(name, m.Method)), fmt.Sprintf("the constant %q overlaps the method", name)})
	}
	return list
}

// forbid returns the rules for forbidden paths. A forbidden path must not be used and must not contain a path that is used. used
// maps each path to the member of the dialect file that uses it.
func forbid(member string, paths []string, used map[string]string) (list []rule) {
	for _, path := range paths {
		list = append(list, rule{member, path == "" || strings.Contains("."+path+".", ".."), fmt.Sprintf("%q is not the path of a member, such as \"jsonrpc\" or \"header.version\"", path)})
		for _, name := range slices.Sorted(maps.Keys(used)) {
			list = append(list, rule{member, within(name, path), fmt.Sprintf("%q is forbidden, but %s needs %q: remove it from one of them", path, used[name], name)})
		}
	}
	return list
}

func within(path, place string) bool { return path == place || strings.HasPrefix(path, place+".") }

// A memberPath is a key of Members with its value, the path of a member.
type memberPath struct {
	name string
	path *string
}

func (m *Members) paths() []memberPath {
	return []memberPath{
		{"method", &m.Method},
		{"params", &m.Params},
		{"id", &m.ID},
		{"result", &m.Result},
		{"error", &m.Error},
		{"code", &m.Code},
		{"message", &m.Message},
		{"data", &m.Data},
		{"more", &m.More},
	}
}

// used maps each path in one kind of message to the key that uses it.
func (m *Members) used(kind string) map[string]string {
	used := map[string]string{}
	for _, p := range m.paths() {
		used[*p.path] = kind + "." + p.name
	}
	delete(used, "")
	for name := range m.Const {
		used[name] = kind + ".const"
	}
	return used
}
