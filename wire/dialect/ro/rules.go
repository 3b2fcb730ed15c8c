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

// The members of a message that RO-JRPC defines, as indexes of fields.
const (
	fieldMethod = iota
	fieldResource
	fieldVerb
	fieldSubresource
	fieldTarget
	fieldParent
	fieldParams
	fieldMeta
	fieldCache
	fieldResult
	fieldError
	fieldRequestID
)

var fieldNames = [...]string{
	"method", "resource", "verb", "subresource", "target", "parent", "params", "meta", "cache", "result", "error", "request_id",
}

// fields are those members as JSON tokens. Absent ones are nil.
type fields [len(fieldNames)][]byte

// readFields reads the fields of raw, a valid object. If a member is repeated, the last one counts. null counts as
// absent, except for the result.
func readFields(raw []byte) (f fields) {
	for key, val := range scan.Members(raw) {
		i := slices.IndexFunc(fieldNames[:], func(name string) bool { return scan.IsKey(key, name) })
		if i < 0 {
			continue
		}
		if f[i] = val; scan.Type(val) == '0' && i != fieldResult {
			f[i] = nil
		}
	}
	return f
}

// structured reports whether a structured routing field is present.
func (f *fields) structured() bool {
	return slices.ContainsFunc(f[fieldResource:fieldParent+1], func(val []byte) bool { return val != nil })
}

// address returns the request's address, and the first violated rule of the specification ("Key rules at a glance"), or
// "". A request without structured fields is plain JSON-RPC, whose method alone determines the address.
func (f *fields) address(method string) (a Address, rule string) {
	if !f.structured() {
		return dotted(method), ""
	}
	a = Address{
		Method: method, Resource: scan.String(f[fieldResource]), Verb: scan.String(f[fieldVerb]), Subresource: scan.String(f[fieldSubresource]),
		Target: f[fieldTarget], Parent: f[fieldParent],
	}
	for _, i := range []int{fieldResource, fieldVerb, fieldSubresource} {
		if f[i] != nil && scan.String(f[i]) == "" {
			return a, fieldNames[i] + " must be a non-empty string"
		}
	}
	for _, i := range []int{fieldTarget, fieldParent} {
		if _, ok := targetText(f[i]); f[i] != nil && !ok {
			return a, fieldNames[i] + " must be a string or a number"
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
		return a, wire.NewError(wire.CodeInvalidRequest, "Invalid Request: "+rule).WithData(map[string]string{"rule": rule})
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
