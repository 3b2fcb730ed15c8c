package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/scan"
)

// toolHeaders are the headers that repeat params of tools (x-mcp-header), by tool.
type toolHeaders map[string][]toolHeader

// A toolHeader is a header, with the path of the param whose value it repeats.
type toolHeader struct {
	name string
	path []string
}

const headerKey = "x-mcp-header"

// Listed records, for each tool in answer, which params HTTP headers repeat. It returns answer without the tools that
// have an invalid header.
func (f *client) Listed(caller dialect.Caller, method string, answer json.RawMessage) json.RawMessage {
	about := caller.Connection()
	if method != "tools/list" || about.HTTPSession == nil || !f.isModern() {
		return answer
	}
	f.mu.Lock()
	if f.headers == nil {
		f.headers = toolHeaders{}
	}
	f.mu.Unlock()
	tools := scan.AppendArray(nil)
	dropped := false
	for tool := range scan.Elements(scan.Get(answer, "tools")) {
		name := scan.String(scan.Get(tool, "name"))
		headers, err := headersOf(scan.Get(tool, "inputSchema"))
		if err != nil {
			dropped = true
			if about.Warn != nil {
				about.Warn(fmt.Sprintf("ignoring the tool %s: %v", strconv.Quote(name), err))
			}
			continue
		}
		tools.Add(tool)
		f.mu.Lock()
		f.headers[name] = headers
		f.mu.Unlock()
	}
	if !dropped {
		return answer
	}
	return codec.Merged(scan.Without(answer, "tools"), scan.Pair("tools", tools.End()))
}

// PrepareCall lists the tools before the first tool call over HTTP, because the call needs the headers of its tool.
func (f *client) PrepareCall(ctx context.Context, caller dialect.Caller, op dialect.Op) error {
	if caller.Connection().HTTPSession == nil || f.c.IsPlain(op.Method) && op.Method != "tools/call" || !f.isModern() {
		return nil
	}
	f.mu.Lock()
	listed := f.headers != nil
	f.mu.Unlock()
	if listed {
		return nil
	}
	var rpc *wire.Error
	if err := f.c.Relist(ctx, caller, tool(op)); !errors.As(err, &rpc) {
		return err
	}
	return nil // the response to the call will report the error
}

// Mirror adds the headers for a tool call to headers.
func (f *client) Mirror(msg []byte, headers map[string]string) {
	params := scan.Get(msg, "params")
	if scan.String(scan.Get(msg, "method")) != "tools/call" {
		return
	}
	f.mu.Lock()
	wanted := f.headers[scan.String(scan.Get(params, "name"))]
	f.mu.Unlock()
	for _, h := range wanted {
		val := scan.Get(params, "arguments")
		for _, name := range h.path {
			val = scan.Get(val, name)
		}
		if text, ok := headerText(val); ok {
			headers["Mcp-Param-"+h.name] = codec.HeaderValue(text)
		}
	}
}

func headerText(val json.RawMessage) (string, bool) {
	switch scan.Type(val) {
	case 's':
		return scan.Text(val)
	case 't', 'f':
		return string(val), true
	case 'n':
		if n, err := strconv.ParseFloat(string(val), 64); err == nil && strings.ContainsAny(string(val), ".eE") && n == float64(int64(n)) {
			return strconv.FormatInt(int64(n), 10), true
		}
		return string(val), true
	}
	return "", false
}

// headersOf returns the headers for a tool with that inputSchema, or an error for an invalid header.
func headersOf(schema json.RawMessage) (headers []toolHeader, err error) {
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
		case slices.ContainsFunc(headers, func(h toolHeader) bool { return strings.EqualFold(h.name, name) }):
			return fmt.Errorf("the header %s belongs to two properties", shown)
		}
		headers = append(headers, toolHeader{name, slices.Clone(path)})
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
		for sub := range scan.Elements(val) {
			inside = append(inside, sub)
		}
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
		types = types[:0]
		for one := range scan.Elements(val) {
			types = append(types, scan.String(one))
		}
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
