package modern

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A Header is an HTTP header that repeats a param of a tool (x-mcp-header).
type Header struct {
	Name string
	path []string
}

// In returns the value that the header repeats in the arguments of a call, or nil if it is missing or null.
func (h Header) In(arguments json.RawMessage) json.RawMessage {
	for _, name := range h.path {
		arguments = scan.Get(arguments, name)
	}
	if scan.Type(arguments) == '0' {
		return nil
	}
	return arguments
}

const headerKey = "x-mcp-header"

// Headers returns the headers for a tool with that inputSchema, or an error for an invalid header.
func Headers(schema json.RawMessage) (headers []Header, err error) {
	if !strings.Contains(string(schema), headerKey) {
		return nil, nil
	}
	err = eachHeader(schema, []string{}, func(path []string, val, schema json.RawMessage) error {
		name, ok := scan.Text(val)
		shown := strconv.Quote(cmp.Or(name, string(val)))
		switch {
		case !ok || !isToken(name):
			return fmt.Errorf("%s is not the name of a header", shown)
		case path == nil:
			return fmt.Errorf("the header %s belongs to a property that is not always in the same place", shown)
		case !isHeaderType(scan.Get(schema, "type")):
			return fmt.Errorf("the header %s belongs to a property that is not a string, an integer or a boolean", shown)
		case slices.ContainsFunc(headers, func(h Header) bool { return strings.EqualFold(h.Name, headerParam+name) }):
			return fmt.Errorf("the header %s belongs to two properties", shown)
		}
		headers = append(headers, Header{headerParam + name, slices.Clone(path)})
		return nil
	})
	return headers, err
}

// The values of the keywords in subschemas are a schema or an array of schemas; those of the keywords in namedSchemas
// are schemas by name.
var (
	subschemas = []string{
		"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties", "propertyNames",
		"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "contentSchema",
	}
	namedSchemas = []string{"$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"}
)

// within returns the subschemas in val, the value of the keyword key. It ignores the keyword properties.
func within(key string, val json.RawMessage) (inside []json.RawMessage) {
	switch {
	case slices.Contains(namedSchemas, key):
		for _, sub := range scan.Named(val) {
			inside = append(inside, sub)
		}
	case !slices.Contains(subschemas, key):
	case scan.Type(val) == 'a':
		inside = scan.List(val)
	default:
		inside = append(inside, val)
	}
	return inside
}

// eachHeader calls found for each header in a schema, with the path of its property. The path is nil for a header outside of
// properties.
func eachHeader(schema json.RawMessage, path []string, found func(path []string, val, schema json.RawMessage) error) error {
	for key, val := range scan.Named(schema) {
		var err error
		switch {
		case key == headerKey:
			if len(path) == 0 {
				path = nil
			}
			err = found(path, val, schema)
		case key == "properties":
			for name, sub := range scan.Named(val) {
				at := path
				if path != nil {
					at = append(slices.Clip(path), name)
				}
				if err = eachHeader(sub, at, found); err != nil {
					return err
				}
			}
		}
		for _, sub := range within(key, val) {
			if err == nil {
				err = eachHeader(sub, nil, found)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isHeaderType reports whether a header can repeat values of a schema's type.
func isHeaderType(val json.RawMessage) bool {
	types := []string{scan.String(val)}
	if scan.Type(val) == 'a' {
		types = wire.Map(scan.List(val), func(one json.RawMessage) string { return scan.String(one) })
	}
	return !slices.Equal(types, []string{"null"}) && len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool {
		return !slices.Contains([]string{"string", "integer", "boolean", "null"}, t)
	})
}

// isToken reports whether text is a valid header name (RFC 9110, section 5.1).
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}
