package ro

import (
	"fmt"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// verbYield and verbReturn are the reserved verbs of async results. Only a server may send them.
const (
	verbYield  = "yield"
	verbReturn = "return"
)

func reserved(verb string) bool { return verb == verbYield || verb == verbReturn }

// fields are the members of a message that RO-JRPC defines, as JSON tokens. Absent ones are nil.
type fields struct {
	method, resource, verb, subresource, target, parent []byte
	params, meta, cache                                 []byte
	result, err, requestID                              []byte
}

// member returns the field of that name, or nil if RO-JRPC does not define the name.
func (f *fields) member(name []byte) *[]byte {
	switch string(name) {
	case "method":
		return &f.method
	case "resource":
		return &f.resource
	case "verb":
		return &f.verb
	case "subresource":
		return &f.subresource
	case "target":
		return &f.target
	case "parent":
		return &f.parent
	case "params":
		return &f.params
	case "meta":
		return &f.meta
	case "cache":
		return &f.cache
	case "result":
		return &f.result
	case "error":
		return &f.err
	case "request_id":
		return &f.requestID
	}
	return nil
}

// readFields reads the fields of raw, a valid object. If a member is repeated, the last one counts. null counts as
// absent, except for the result.
func readFields(raw []byte) (f fields) {
	for key, val := range scan.Members(raw) {
		to := f.member(scan.Unescaped(key))
		if to == nil {
			continue
		}
		if *to = val; scan.Type(val) == '0' && to != &f.result {
			*to = nil
		}
	}
	return f
}

// structured reports whether a structured routing field is present.
func (f *fields) structured() bool {
	return slices.ContainsFunc([][]byte{f.resource, f.verb, f.subresource, f.parent, f.target}, func(val []byte) bool { return val != nil })
}

// address returns the request's address, and the first violated rule of the specification ("Key rules at a glance"), or
// "". A request without structured fields is plain JSON-RPC, whose method alone determines the address.
func (f *fields) address(method string) (a Address, rule string) {
	if !f.structured() {
		return dotted(method), ""
	}
	a = Address{Method: method, Target: f.target, Parent: f.parent}
	for _, name := range []struct {
		member string
		val    []byte
		to     *string
	}{{"resource", f.resource, &a.Resource}, {"verb", f.verb, &a.Verb}, {"subresource", f.subresource, &a.Subresource}} {
		text, ok := scan.Text(name.val)
		if name.val != nil && (!ok || text == "") {
			return a, name.member + " must be a non-empty string"
		}
		*name.to = text
	}
	for _, name := range []struct {
		member string
		val    []byte
	}{{"target", f.target}, {"parent", f.parent}} {
		if _, ok := targetText(name.val); name.val != nil && !ok {
			return a, name.member + " must be a string or a number"
		}
	}
	if rule = a.broken(); rule == "" && a.Resource == "" { // a target alone does not determine the meaning of the method
		target := a.Target
		a = dotted(method)
		a.Target = target
	}
	return a, rule
}

// addressed returns the address of a request or, if note is set, of a notification. If the address violates a rule, it
// returns the error response.
func (f *fields) addressed(method string, note bool) (Address, error) {
	a, rule := f.address(method)
	if rule == "" && reserved(a.Verb) && !note {
		rule = "the verb " + a.Verb + " is reserved for async results, from server to client"
	}
	if rule != "" {
		return a, invalid(rule)
	}
	return a, nil
}

// broken returns the first rule that a violates, or "".
func (a Address) broken() string {
	switch {
	case a.Subresource != "" && a.Resource == "":
		return "subresource must not appear without resource"
	case a.Parent != nil && a.Resource == "":
		return "parent must not appear without resource"
	case a.Resource != "" && a.Verb == "", a.Resource == "" && a.Verb != "":
		return "resource and verb must appear together"
	case a.Parent != nil && a.Subresource == "":
		return "parent must not appear without subresource"
	case firstDotted(a) != "":
		return fmt.Sprintf("a resource, subresource or verb cannot contain a dot: %q", firstDotted(a))
	case a.Resource != "" && a.Method != a.name():
		return fmt.Sprintf("method must equal %q, which its fields define, not %q", a.name(), a.Method)
	}
	return ""
}

// invalid returns the error response to a request that violates a rule (-32600).
func invalid(rule string) *wire.Error {
	return wire.NewError(wire.CodeInvalidRequest, "Invalid Request: "+rule).WithData(map[string]string{"rule": rule})
}
