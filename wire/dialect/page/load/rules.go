package load

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// A rule is a requirement on a table in a dialect file, in addition to the types of its members.
type rule struct {
	member string // the member below the table, or "" for the table itself
	broken bool
	says   string
}

// ruled is implemented by the types of tables that have rules.
type ruled interface {
	rules(p *Page) []rule
}

// checkRules returns an error for the first rule that the dialect file violates.
func (p *Page) checkRules(at places) error {
	for m := range p.all() {
		table, ok := m.value.Interface().(ruled)
		if !ok || m.value.Kind() != reflect.Struct {
			continue
		}
		for _, r := range table.rules(p) {
			if r.broken {
				return at.fault(strings.Trim(m.path+"."+r.member, "."), r.says)
			}
		}
	}
	return nil
}

func (p Page) rules(*Page) []rule {
	return append(p.setRules(), []rule{
		{"name", !IsName(p.Name), fmt.Sprintf("%q is not a valid dialect name: expected [a-z][a-z0-9-]*, such as name = \"chat\"", p.Name)},
		{"base", p.Base == "none" && p.Names == nil && len(p.Read) == 0, "base = \"none\" needs [names] or [[read]], which describe the messages"},
	}...)
}

// setRules are the rules for [set]: each value has a type and is used.
func (p Page) setRules() (list []rule) {
	uses := func(params Prog) bool { return params != nil && strings.Contains(params.Text(), "$meta") }
	used := p.Eval != nil && uses(p.Eval.Params) || slices.ContainsFunc(p.Handshake, func(s Step) bool { return uses(s.Params) })
	handshake := false
	for _, name := range slices.Sorted(maps.Keys(p.Set)) {
		member := p.Names != nil && slices.Contains(p.Names.Extra, name)
		handshake = handshake || !member
		list = append(list,
			rule{"set." + name, !scan.IsTypeName(p.Set[name]), fmt.Sprintf("%q is not a type: expected string, number, boolean, object, array or any", p.Set[name])},
			rule{"set." + name, !member && !used, "it is not used: list it in names.extra, or use $meta." + name + " in a program of greet or eval"})
	}
	return append(list, rule{"greet", used && !handshake, "$meta is empty: declare the values that users can set, with [set] NAME = \"string\""})
}

func (t Text) rules(p *Page) []rule {
	return []rule{
		isPattern("before", t.Before),
		{"before", t.Before != "" && p.Base != "none", `expected base = "none": messages are arrays of this text and the JSON`},
	}
}

func (a Beat) rules(*Page) []rule {
	return []rule{
		{"", (a.Every == nil) != (a.Send == nil), `expected "every" and "send" together`},
		{"answer", a.Answer != nil && a.Is == nil, `expected "is" beside it, which recognises heartbeats`},
		{"", a.Send == nil && a.Is == nil, `expected "every" and "send", or "is"`},
	}
}

func (s Step) attempts() bool { return s.Call != "" && s.Optional }

func (s Step) rules(*Page) []rule {
	return append(append(s.ownRules(), compiles(s.Accept)...), []rule{
		{"id", s.ID != "" && s.Call == "", "only a call has an id"},
		{"again", s.Again && !s.attempts(), "only an optional call can be skipped"},
		{"refused", len(s.Refused) > 0 && !s.attempts(), "only an optional call can be refused"},
	}...)
}

func (s Step) ownRules() []rule {
	given := 0
	for _, has := range []bool{s.Call != "", s.Notify != "", s.Await != nil} {
		if has {
			given++
		}
	}
	return []rule{
		{"", given != 1, `expected exactly one of "call", "notify" and "await"`},
		{"within", s.Within != "" && (s.Await == nil && !s.attempts() || s.Limit() <= 0), `expected a duration, such as 500ms, beside "await"`},
		{"wait", s.Call == "" && s.Wait != nil, "only a call has a response to wait for"},
		{"for", len(s.For) > 0 && (s.Await != nil || s.Wait != nil), `a step with "for" cannot have "await" or "wait"`},
		{"", s.Notify != "" && (len(s.Keep) > 0 || len(s.Accept) > 0 || s.Login), `a notification has no response: "keep", "accept" and "login" need "call" or "await"`},
	}
}

// callOrNotify returns the rule that a table has exactly one of call and notify.
func callOrNotify(call, notify string) rule {
	return rule{"", (call == "") == (notify == ""), `expected exactly one of "call" and "notify"`}
}

func (s Goodbye) rules(*Page) []rule { return []rule{callOrNotify(s.Call, s.Notify)} }

// compiles returns the rules that the programs in accept compile.
func compiles(accept map[string][]any) (list []rule) {
	for _, text := range slices.Sorted(maps.Keys(accept)) {
		err := program.New(text).Check("")
		list = append(list, rule{"accept", err != nil, fmt.Sprint(err)})
	}
	return list
}

func (s EvalPrelude) rules(*Page) []rule {
	return append(compiles(s.Accept), []rule{
		callOrNotify(s.Call, s.Notify),
		{"", s.Notify != "" && (len(s.Keep) > 0 || len(s.Accept) > 0), `a notification has no response: "keep" and "accept" need "call"`},
	}...)
}

func (e End) rules(*Page) []rule {
	return []rule{callOrNotify(e.Call, e.Notify), {"", e.Method != "", `expected exactly one of "call" and "notify"`}}
}

func (e Eval) rules(*Page) []rule {
	return []rule{{"", e.Call == "" || e.Params == nil, `expected "call" and "params", which evaluate $code`}}
}

func (d Detect) rules(*Page) []rule {
	return append(wire.Map(d.First, func(pattern string) rule { return isPattern("first", pattern) }), isPattern("unless", d.Unless))
}

func (r Refusal) rules(*Page) []rule {
	return []rule{
		{"", r.Method == "" || r.Error == "" || r.Hint == "", `expected "method", "error" and "hint"`},
		isPattern("method", r.Method), isPattern("error", r.Error),
	}
}

// isPattern returns the rule that a string is a regular expression.
func isPattern(member, text string) rule {
	_, err := regexp.Compile(text)
	return rule{member, err != nil, fmt.Sprintf("not a regular expression: %v", err)}
}

func (p Probe) rules(*Page) []rule {
	return []rule{{"", p.Is == nil, `expected "is", a program that is true for messages of this server`}}
}

func (a After) rules(*Page) []rule {
	return []rule{{"", a.Event == "" || a.Call == "", `expected "event" (the notification) and "call" (the method to call after it)`}}
}

func (d Describe) rules(*Page) []rule {
	return []rule{{"", d.Methods == nil && d.Info == nil, `expected "methods" or "info", programs that read the response`}}
}

func (s Subscribe) rules(p *Page) []rule {
	return []rule{{"", s.Item.Method == "" && !p.ReadsItems(), `expected "item.method", the notifications that are items, or a [[read]] rule of kind "item"`}}
}

func (i Instead) rules(p *Page) []rule {
	_, known := p.Subscribe[i.Method]
	return []rule{{"method", !known, "expected a method that has a [subscribe.METHOD]"}}
}

func (i Input) rules(*Page) []rule {
	return []rule{{"", i.When == nil || i.Requests == "" || i.Responses == "" || i.Most < 1, `expected "when", "requests", "responses" and "most"`}}
}

func (w Wrapped) rules(*Page) []rule {
	return []rule{{"", w.Method == nil, `expected "method": a program that finds the hook's name in the params`}}
}

func (c Cancel) rules(*Page) []rule {
	_, code := c.Answer.(int64)
	return []rule{
		{"", (c.Notify == "") == (c.Call == ""), `expected exactly one of "notify" and "call"`},
		{"answer", c.Answer != nil && !code && c.Answer != "none", `expected "none" or the code of an error, such as -32800`},
	}
}

func (r Read) rules(*Page) []rule {
	article := "a "
	if r.Kind == "item" {
		article = "an "
	}
	return []rule{
		{"", r.Kind == "", "expected a kind: response, request, notification, item or cancel"},
		{"", r.ID == nil && r.Kind != "notification", article + r.Kind + " needs an id"},
		{"", r.Method == nil && (r.Kind == "request" || r.Kind == "notification"), article + r.Kind + " needs a method"},
		{"final", r.Final != nil && r.Kind != "item" && r.Kind != "response", "only an item or a response can be final"},
	}
}

// ownHeaders are the headers that a dialect file must not set, because they route a request, describe its body, or contain the user's
// credentials.
var ownHeaders = []string{
	"host", "authorization", "cookie", "origin", "accept", "content-type", "content-length", "content-encoding",
	"transfer-encoding", "connection", "upgrade", "proxy-authorization", "te", "trailer", "last-event-id",
}

func (h HTTP) rules(*Page) []rule {
	header := func(member, name string) rule {
		return rule{member, slices.Contains(ownHeaders, strings.ToLower(name)) || strings.ContainsAny(name, " \t\r\n:"), "a dialect file cannot set this header"}
	}
	list := []rule{
		header("session", h.Session),
		{"again", h.Again != 0 && h.Session == "", `expected "session" beside it, which names a header`},
		{"again", h.Again != 0 && (h.Again < 400 || h.Again > 499), "expected a status from 400 to 499, such as 409"},
	}
	for name := range h.Headers {
		list = append(list, header("headers."+name, name))
	}
	for name := range h.Mirror {
		list = append(list, header("mirror."+name, name))
	}
	return list
}

func (s Serve) rules(*Page) (list []rule) {
	for path := range s.Get {
		list = append(list, rule{"get." + path, !strings.HasPrefix(path, "/"), `expected a path, such as "/json/version"`})
	}
	return list
}
