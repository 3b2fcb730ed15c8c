package ro

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// An Address is the method of a request with its structured fields. Absent fields are "" or nil. Target and Parent are
// JSON strings or numbers.
type Address struct {
	Method      string          `json:"-"`
	Resource    string          `json:"resource"`
	Verb        string          `json:"verb"`
	Subresource string          `json:"subresource"`
	Target      json.RawMessage `json:"target"`
	Parent      json.RawMessage `json:"parent"`
}

// Parse parses a user's method: PATH:VERB, or a wire name. A dotted name of two or three parts has structured fields,
// except for rpc.*. Other names have none.
//
//	user:create               user/42:get
//	repo/99/issue:list        repo/99/issue/7:get     repo//issue/7:get
//
// Errors are usage Faults.
func Parse(typed string) (Address, error) {
	path, verb, colon := cutLast(typed, ':')
	if !colon {
		return dotted(typed), nil
	}
	segments := strings.Split(path, "/")
	if len(segments) > 4 {
		return Address{}, wire.Usagef("%q has more than resource/parent/subresource/target before the colon", typed)
	}
	text := make([]string, 4)
	for i, s := range segments {
		t, err := url.PathUnescape(s)
		if err != nil {
			return Address{}, wire.Usagef("%q is not a percent-encoded path: %v", s, err)
		}
		text[i] = t
	}
	a := Address{Resource: text[0], Verb: verb}
	switch len(segments) {
	case 2:
		a.Target = value(text[1])
	case 3, 4:
		a.Parent, a.Subresource, a.Target = value(text[1]), text[2], value(text[3])
		if a.Subresource == "" {
			return Address{}, wire.Usagef("%q has no subresource between its slashes", typed)
		}
	}
	switch {
	case a.Resource == "":
		return Address{}, wire.Usagef("%q has no resource before the colon", typed)
	case verb == "":
		return Address{}, wire.Usagef("%q has no verb after the colon", typed)
	case len(segments) == 3 && strings.Trim(a.Subresource, "0123456789") == "": // a number cannot be the name of a subresource
		return Address{}, misread(typed, segments, verb)
	}
	if name := firstDotted(a); name != "" {
		f := wire.Usagef("%q: a resource, subresource or verb cannot contain a dot", name)
		if better := slashed(segments, verb); better != "" {
			f.Hint = "did you mean " + better + "?"
			f.Err = &dialect.Misspelt{Method: better}
		}
		return Address{}, f
	}
	a.Method = a.name()
	return a, nil
}

// misread rejects a path of three segments whose last segment is a number. In such a path, one segment contains both
// parent and subresource (repo/99.issue/7:get), or a segment is missing.
func misread(typed string, segments []string, verb string) error {
	f := wire.Usagef("%q has the number %s in place of a subresource's name", typed, segments[2])
	parent, sub, ok := cutLast(segments[1], '.')
	if better := strings.Join([]string{segments[0], parent, sub, segments[2]}, "/") + ":" + verb; ok && parent != "" && sub != "" {
		f.Hint, f.Err = "did you mean "+better+"?", &dialect.Misspelt{Method: better}
	}
	return f
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// slashed rewrites a path with dotted names as one with slashes (repo.issue:get becomes repo//issue:get). It returns ""
// if the result is invalid.
func slashed(segments []string, verb string) string {
	names := strings.Split(segments[0], ".")
	if last := strings.Split(verb, "."); len(last) > 1 {
		names, verb = append(names, last[:len(last)-1]...), last[len(last)-1]
	}
	if len(names) != 2 || len(segments) > 2 || names[0] == "" || names[1] == "" || verb == "" {
		return ""
	}
	return strings.Join(append([]string{names[0], "", names[1]}, segments[1:]...), "/") + ":" + verb
}

// firstDotted returns the first name of a with a dot, or "".
func firstDotted(a Address) string {
	for _, name := range []string{a.Resource, a.Subresource, a.Verb} {
		if strings.Contains(name, ".") {
			return name
		}
	}
	return ""
}

// value encodes a target or parent in a path as a JSON string, or as nil if it is empty.
func value(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return scan.AppendQuoted(nil, text)
}

// dotted parses a wire name. Names of two or three parts have structured fields, except rpc.*, which JSON-RPC reserves.
func dotted(name string) Address {
	if a := parted(name); a.Resource != "rpc" {
		return a
	}
	return Address{Method: name}
}

// parted is like dotted, but also splits rpc.*.
func parted(name string) Address {
	a := Address{Method: name}
	parts := strings.Split(name, ".")
	if slices.Contains(parts, "") {
		return a
	}
	switch len(parts) {
	case 2:
		a.Resource, a.Verb = parts[0], parts[1]
	case 3:
		a.Resource, a.Subresource, a.Verb = parts[0], parts[1], parts[2]
	}
	return a
}

// name returns the method that the fields define: their names, joined by dots ("Key rules" of the specification).
func (a Address) name() string {
	if a.Subresource != "" {
		return a.Resource + "." + a.Subresource + "." + a.Verb
	}
	return a.Resource + "." + a.Verb
}

// Name returns the name of a method for hooks and policies: resource:verb or resource.subresource:verb. The method may
// be a pattern with stars. Names of other forms stay unchanged. rpc.describe becomes rpc:describe, so that policies can
// name it like other methods.
func Name(method string) string {
	if strings.Contains(method, ":") {
		return method
	}
	a := parted(method)
	if a.Verb == "" {
		return method
	}
	return resourceOf(a) + ":" + a.Verb
}

// CheckName returns a usage Fault if Parse rejects the name.
func CheckName(typed string, _ bool) error {
	_, err := Parse(typed)
	return err
}

// Method returns the wire name of the user's method, or typed unchanged if Parse rejects it.
func Method(typed string) string {
	if a, err := Parse(typed); err == nil {
		return a.Method
	}
	return typed
}

// Respell returns the user's form of the wire name method, to suggest in place of typed. It keeps the targets of a
// PATH:VERB that the method can have.
func Respell(typed, method string) string {
	path, _, colon := cutLast(typed, ':')
	a, segments := dotted(method), strings.Split(path, "/")
	switch {
	case !colon || a.Verb == "":
		return method
	case a.Subresource == "":
		segments = append([]string{a.Resource}, segments[1:min(2, len(segments))]...)
	case a.Subresource != "" && (len(segments) == 3 || len(segments) == 4):
		segments[0], segments[2] = a.Resource, a.Subresource
	default:
		return method
	}
	return strings.Join(segments, "/") + ":" + a.Verb
}

// WireName returns the wire name for a name that Name returned.
func WireName(name string) string { return strings.Replace(name, ":", ".", 1) }

// addTo adds the structured fields as members of a request.
func (a Address) addTo(o *scan.Object) {
	o.SomeText("resource", a.Resource)
	o.Add("parent", a.Parent)
	o.SomeText("subresource", a.Subresource)
	o.Add("target", a.Target)
	o.SomeText("verb", a.Verb)
}

// targetText returns the text of a target, a JSON string or number. 42 and "42" are the same target. It returns false
// for other types.
func targetText(val []byte) (string, bool) {
	if text, ok := scan.Text(val); ok {
		return text, true
	}
	if scan.Type(val) == 'n' {
		return string(bytes.TrimSpace(val)), true
	}
	return "", false
}
