package bridge

import (
	"encoding/json"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// titles returns the titles of positional params, in order. It returns nil if the params are not positional, if a title is
// missing or repeated, or if additional params are allowed.
func titles(schema json.RawMessage) (names []string) {
	kind, _ := scan.Text(scan.Get(schema, "type"))
	items := scan.Get(schema, "prefixItems")
	rest := scan.Get(schema, "items")
	if kind != "array" || scan.Type(items) != 'a' || rest != nil && string(rest) != "false" {
		return nil
	}
	for item := range scan.Elements(items) {
		name, ok := scan.Text(scan.Get(item, "title"))
		if !ok || name == "" || slices.Contains(names, name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// titled returns a schema for an object whose members are the positional params of schema.
func titled(schema json.RawMessage, names []string) json.RawMessage {
	var props, o scan.Object
	i := 0
	for item := range scan.Elements(scan.Get(schema, "prefixItems")) {
		props.Add(names[i], item)
		i++
	}
	var needed int
	_ = json.Unmarshal(scan.Get(schema, "minItems"), &needed)
	o.Text("type", "object")
	o.Add("properties", props.End())
	if needed = max(0, min(needed, len(names))); needed > 0 {
		o.Add("required", scan.TextsOf(names[:needed]))
	}
	o.Bool("additionalProperties", false)
	for key, val := range scan.Named(schema) {
		if !slices.Contains([]string{"type", "prefixItems", "items", "minItems", "maxItems"}, key) {
			o.Add(key, val)
		}
	}
	return o.End()
}

// inOrder returns the members of params as an array. It fails if a member is unknown, or if a member is missing before
// one that is present.
func inOrder(params json.RawMessage, names []string) (json.RawMessage, error) {
	var all scan.Array
	placed, missing := 0, ""
	for _, name := range names {
		val := scan.Get(params, name)
		switch {
		case val == nil && missing == "":
			missing = name
		case val != nil && missing != "":
			return nil, wire.Errorf(wire.CodeInvalidParams, "%s is missing before %s: the peer takes its params by position", missing, name)
		case val != nil:
			all.Add(val)
			placed++
		}
	}
	if placed < scan.Count(params) {
		return nil, wire.NewError(wire.CodeInvalidParams, "a member of the params has no position in the peer's parameter list")
	}
	return all.End(), nil
}
