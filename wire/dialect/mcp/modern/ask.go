package modern

import (
	"encoding/json"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// needs returns the capability that a question requires, as a path, or nil for a request that is not a question.
func needs(method string, params json.RawMessage) []string {
	switch method {
	case "elicitation/create":
		if scan.String(scan.Get(params, "mode")) == "url" {
			return []string{"elicitation", "url"}
		}
		return []string{"elicitation", "form"}
	case "sampling/createMessage":
		if scan.Get(params, "tools") != nil || scan.Get(params, "toolChoice") != nil {
			return []string{"sampling", "tools"}
		}
		return []string{"sampling"}
	case "roots/list":
		return []string{"roots"}
	}
	return nil
}

// lacking returns the error for a question that the client does not support, or nil if it supports the question.
func lacking(capabilities json.RawMessage, method string, params json.RawMessage) *wire.Error {
	path := needs(method, params)
	if path == nil {
		return wire.Errorf(wire.CodeNoMethod, "a hook cannot send %s to the client", method)
	}
	has := scan.At(capabilities, "/"+strings.Join(path, "/"))
	plain := scan.Get(capabilities, "elicitation") // an empty object declares forms
	if scan.Type(has) == 'o' || path[len(path)-1] == "form" && scan.Type(plain) == 'o' && scan.Get(plain, "url") == nil {
		return nil
	}
	need := json.RawMessage("{}")
	for _, name := range slices.Backward(path) {
		need = scan.Pair(name, need)
	}
	return lacks(need)
}

// fits reports whether an answer has the form of a result of method.
func fits(method string, answer json.RawMessage) bool {
	if scan.Type(answer) != 'o' {
		return false
	}
	switch method {
	case "elicitation/create":
		return slices.Contains([]string{"accept", "decline", "cancel"}, scan.String(scan.Get(answer, "action")))
	case "sampling/createMessage":
		return scan.Get(answer, "content") != nil
	case "roots/list":
		return scan.Type(scan.Get(answer, "roots")) == 'a'
	}
	return true
}

// answers returns the methods of the questions that the client of a call supports. It never returns nil.
func answers(m *wire.Message) []string {
	methods := []string{}
	if !slices.Contains(asking, m.Method) {
		return methods
	}
	capabilities := meta(m.Params, MetaCapabilities)
	for _, method := range []string{"elicitation/create", "roots/list", "sampling/createMessage"} {
		if scan.Get(capabilities, needs(method, nil)[0]) != nil { // the first name is the capability
			methods = append(methods, method)
		}
	}
	return methods
}
