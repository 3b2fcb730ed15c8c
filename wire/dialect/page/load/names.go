package load

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// AllNames returns the names of the dialect file with those of its base where it has none of its own.
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
		own := m.Const
		if m.Const = maps.Clone(n.Const); m.Const == nil {
			m.Const = Consts{}
		}
		maps.Copy(m.Const, own)
	}
	return n
}

// baseNames returns the names of the members in the dialect that a dialect file builds on.
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

// merge replaces in n what the dialect file names itself.
func (n *Names) merge(more Names) {
	for _, pair := range []struct{ to, from *Members }{{&n.Request, &more.Request}, {&n.Response, &more.Response}, {&n.Event, &more.Event}} {
		for i, to := range pair.to.paths() {
			*to.path = cmp.Or(*pair.from.paths()[i].path, *to.path)
		}
		if pair.from.Const != nil {
			pair.to.Const = pair.from.Const
		}
		pair.to.Forbidden = pair.from.Forbidden
		if pair.from.Const == nil { // those of the base go where the dialect file forbids them
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
}

// rules are about names that contradict each other.
func (Names) rules(p *Page) []rule {
	n := p.AllNames()
	code, message := n.Response.Code, n.Response.Message
	list := []rule{{
		"response.code", p.Write.Error == nil && code != "" && message != "" && code != message && (within(code, message) || within(message, code)),
		fmt.Sprintf("an error's message stands in %q: one of them would hold the other. Name two members, or one for both, or say with write.error how errors are written", message),
	}}
	if n.OK != nil {
		list = append(list, rule{"ok", n.OK.At == "" || n.OK.Is == nil, "expected at and is: the member, and its value in a message with a result"})
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

// paths returns the rules about the paths of a kind of message: each is one, and no constant is where the method is.
func paths(kind string, used map[string]string, m *Members) (list []rule) {
	for _, path := range slices.Sorted(maps.Keys(used)) {
		list = append(list, rule{kind, strings.Contains("."+path+".", ".."), fmt.Sprintf("%q is not a path of a member", path)})
	}
	for name := range m.Const {
		list = append(list, rule{kind + ".const", m.Method != "" && (within(m.Method, name) || within(name, m.Method)), fmt.Sprintf("the constant %q is where the method is", name)})
	}
	return list
}

// forbid returns the rules about paths that the dialect file forbids: none of them is one of those that are
// used, or holds it; used has what uses each.
func forbid(member string, paths []string, used map[string]string) (list []rule) {
	for _, path := range paths {
		list = append(list, rule{member, path == "" || strings.Contains("."+path+".", ".."), fmt.Sprintf("%q is not a path of a member, such as \"jsonrpc\" or \"header.version\"", path)})
		for _, name := range slices.Sorted(maps.Keys(used)) {
			list = append(list, rule{member, within(name, path), fmt.Sprintf("%q is forbidden, and %s needs %q: take it out of one of them", path, used[name], name)})
		}
	}
	return list
}

// within reports whether the member at path is the one at place, or below it.
func within(path, place string) bool { return path == place || strings.HasPrefix(path, place+".") }

// A memberPath is where messages hold one of their parts.
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

// used returns what the messages of a kind are made of: the path of each member, and what names it.
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
