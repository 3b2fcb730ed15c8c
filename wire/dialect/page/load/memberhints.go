package load

import (
	"slices"
	"strings"
)

// A memberHint helps an author who used a member that does not exist in dialect files. path is that member, and says names the correct
// one.
type memberHint struct{ path, says string }

// memberHints returns the table. A star in a path matches any one part.
func memberHints() []memberHint {
	return []memberHint{
		{"names.notify", "it is event: what is notified by either side"},
		{"names.notification", "it is event: what is notified by either side"},
		{"names.*.extra", "it is extra in names, for all messages"},
		{"write.item", "it is event: $params is the item, $id the id of its request"},
		{"write.notification", "it is notify, and event for what a server notifies"},
		{"write.response", "it is result, and error"},
		{"read.*.data", "it is result, of an item and a response, and params of a notification"},
		{"read.*.last", "it is final"},
		{"greet.*.method", "it is call, for what is answered, or notify"},
		{"leave.*.method", "it is call, for what is answered, or notify"},
		{"leave.*.await", "only a step of [[greet]] can await; use call or notify"},
		{"eval.first.*.await", "only a step of [[greet]] can await; use call or notify"},
		{"cancel.method", "it is notify, or call for what is answered"},
		{"describe.*.method", "it is call"},
		{"eval.method", "it is call"},
		{"subscribe.*.method", "it is item.method"},
		{"subscribe.*.final", "it is until, of an item's params"},
		{"serve.call", "it is calls: [serve.calls.METHOD]"},
		{"serve.answer", "it is answers: METHOD = a program"},
		{"serve.hello", "it is write.hello"},
		{"serve.cancel", "it is cancel, which both sides read"},
	}
}

// hintFor returns the hint for an unknown member at path, or "".
func hintFor(path []string) string {
	for _, w := range memberHints() {
		parts := strings.Split(w.path, ".")
		if slices.EqualFunc(parts, path, func(want, got string) bool { return want == "*" || want == got }) {
			return w.says
		}
	}
	return ""
}
