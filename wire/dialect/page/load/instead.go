package load

import (
	"slices"
	"strings"
)

// An instead is a word that one may look for in a page, and what says it.
type instead struct{ path, says string }

// insteads are such words. In a path a star stands for any part.
func insteads() []instead {
	return []instead{
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
		{"leave.*.await", "only a greeting awaits: it is call, or notify"},
		{"eval.first.*.await", "only a greeting awaits: it is call, or notify"},
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

// insteadOf returns what says what the member at path would; "" if it is no such word.
func insteadOf(path []string) string {
	for _, w := range insteads() {
		parts := strings.Split(w.path, ".")
		if slices.EqualFunc(parts, path, func(want, got string) bool { return want == "*" || want == got }) {
			return w.says
		}
	}
	return ""
}
