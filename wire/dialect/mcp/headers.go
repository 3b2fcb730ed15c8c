package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/mcp/modern"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/scan"
)

// Listed records, for each tool in answer, which params HTTP headers repeat. It returns answer without the tools that
// have an invalid header.
func (f *client) Listed(caller dialect.Caller, method string, answer json.RawMessage) json.RawMessage {
	about := caller.Connection()
	if method != "tools/list" || about.HTTPSession == nil || !f.isModern() {
		return answer
	}
	tools := scan.AppendArray(nil)
	dropped := false
	for tool := range scan.Elements(scan.Get(answer, "tools")) {
		name := scan.String(scan.Get(tool, "name"))
		headers, err := modern.Headers(scan.Get(tool, "inputSchema"))
		if err != nil {
			dropped = true
			if about.Warn != nil {
				about.Warn(fmt.Sprintf("ignoring the tool %s: %v", strconv.Quote(name), err))
			}
			continue
		}
		tools.Add(tool)
		f.headers.Store(name, headers)
	}
	f.listed.Store(true)
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
	if f.listed.Load() {
		return nil
	}
	err := f.c.Relist(ctx, caller, tool(op))
	if _, ok := errors.AsType[*wire.Error](err); ok { // the response to the call will report the error
		return nil
	}
	return err
}

// Mirror adds the headers for a tool call to headers.
func (f *client) Mirror(msg []byte, headers map[string]string) {
	params := scan.Get(msg, "params")
	if scan.String(scan.Get(msg, "method")) != "tools/call" {
		return
	}
	found, _ := f.headers.Load(scan.String(scan.Get(params, "name")))
	wanted, _ := found.([]modern.Header)
	for _, h := range wanted {
		if text, ok := headerText(h.In(scan.Get(params, "arguments"))); ok {
			headers[h.Name] = codec.HeaderValue(text)
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
