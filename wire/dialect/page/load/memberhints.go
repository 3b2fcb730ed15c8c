package load

import (
	"slices"
	"strings"
)

// A memberHint corrects a mistake in a dialect file: path is a member that does not exist, and says names the right one.
type memberHint struct{ path, says string }

// memberHints contains paths in which a star matches any one segment.
var memberHints = []memberHint{
	{"names.notify", `use "event", which describes the notifications of both sides`},
	{"names.notification", `use "event", which describes the notifications of both sides`},
	{"names.*.extra", `use "names.extra", which applies to all messages`},
	{"write.item", `use "event": $params is the item, $id the id of its request`},
	{"write.notification", `use "notify", or "event" for the notifications of a server`},
	{"write.response", `use "result" and "error"`},
	{"read.*.data", `use "result" for an item or a response, "params" for a notification`},
	{"read.*.last", `use "final"`},
	{"greet.*.method", `use "call" if there is a response, otherwise "notify"`},
	{"leave.*.method", `use "call" if there is a response, otherwise "notify"`},
	{"leave.*.await", `only a step of [[greet]] can have "await"; use "call" or "notify"`},
	{"eval.first.*.await", `only a step of [[greet]] can have "await"; use "call" or "notify"`},
	{"cancel.method", `use "notify", or "call" if there is a response`},
	{"describe.*.method", `use "call"`},
	{"eval.method", `use "call"`},
	{"subscribe.*.method", `use "item.method"`},
	{"subscribe.*.final", `use "until", whose input is the params of an item`},
	{"serve.call", `use "calls": [serve.calls.METHOD]`},
	{"serve.answer", `use "answers": METHOD = a program`},
	{"serve.hello", `use "write.hello"`},
	{"serve.cancel", `use "cancel", which applies to both sides`},
}

// hintFor returns the hint for an unknown member at path, or "".
func hintFor(path []string) string {
	for _, w := range memberHints {
		parts := strings.Split(w.path, ".")
		if slices.EqualFunc(parts, path, func(want, got string) bool { return want == "*" || want == got }) {
			return w.says
		}
	}
	return ""
}
