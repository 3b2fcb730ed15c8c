package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/scan"
)

// isModern reports whether the connection uses a version without a handshake.
func (f *client) isModern() bool {
	return scan.Type(scan.Get(f.c.Scope().Conn.Kept, "modern")) == 's'
}

// Interim reports whether a response is not the complete result.
func (f *client) Interim(m *wire.Message) bool {
	kind, ok := scan.Text(scan.Get(m.Body, "resultType"))
	return ok && kind != "complete" && f.isModern()
}

// Resume follows the task that replaces a tool call. For any other interim response, it returns a Fault.
func (f *client) Resume(ctx context.Context, caller dialect.Caller, op dialect.Op, m wire.Message) (dialect.Stream, error) {
	isTask := scan.String(scan.Get(m.Body, "resultType")) == "task" && scan.Type(scan.Get(m.Body, "taskId")) == 's'
	if isTask && (op.Method == "tools/call" || !f.c.IsPlain(op.Method)) {
		return f.follow(ctx, caller, op, m)
	}
	return nil, wire.NewFault(wire.Protocol, "the result has the unknown resultType "+string(scan.Get(m.Body, "resultType")), nil).WithMethod(op.Method)
}

// Failed reports whether to repeat the call op, which failed with err. again is true if the headers no longer match the
// server's tool, or if the response was lost and the tool may be called twice. For an error about missing capabilities,
// instead is the error with the flags that declare them, or nil if there are none.
func (f *client) Failed(ctx context.Context, caller dialect.Caller, op dialect.Op, err error) (again bool, instead *wire.Error) {
	if !f.isModern() {
		return false, nil
	}
	rpc, fault := (*wire.Error)(nil), wire.AsFault(err)
	http := caller.Connection().HTTPSession != nil
	switch {
	case errors.As(err, &rpc) && string(rpc.Code) == "-32020":
		return http && f.c.Relist(ctx, caller, tool(op)) == nil, nil
	case rpc != nil && string(rpc.Code) == "-32021":
		return false, withFlags(rpc)
	case fault != nil && http && (fault.Kind == wire.Closed || errors.Is(fault, wire.ErrUnanswered)) && f.mayRepeat(ctx, caller, op):
		if warn := caller.Connection().Warn; warn != nil {
			warn("the response was lost; rpcx repeats the call, which the server allows")
		}
		return true, nil
	}
	return false, nil
}

// tool returns the name of the tool that op calls, either by that name or with tools/call.
func tool(op dialect.Op) string {
	if op.Method == "tools/call" {
		return scan.String(scan.Get(op.Params, "name"))
	}
	return op.Method
}

// mayRepeat reports whether a call may run twice: it does not change anything, or the tool's hints allow it.
func (f *client) mayRepeat(ctx context.Context, caller dialect.Caller, op dialect.Op) bool {
	if f.c.IsPlain(op.Method) && op.Method != "tools/call" {
		return true
	}
	m, err := f.c.Described(ctx, caller, tool(op))
	return err == nil && m != nil && (m.ReadOnly() || m.Hint("idempotentHint"))
}

// answers contains, for each kind of request, its capability and a flag with an example of a response.
var answers = map[string]struct{ capability, flag string }{
	"elicitation/create":     {"elicitation", `--on 'elicitation/create=json:{"action":"accept","content":{…}}'`},
	"sampling/createMessage": {"sampling", `--on 'sampling/createMessage=json:{"role":"assistant","model":"…","content":{"type":"text","text":"…"}}'`},
	"roots/list":             {"roots", `--on 'roots/list=json:{"roots":[{"uri":"file:///…"}]}'`},
}

// withFlags adds, to the error of a server that requires capabilities, the flags that declare them. It returns nil if
// there are none.
func withFlags(e *wire.Error) *wire.Error {
	var flags []string
	for name := range scan.Named(scan.Get(e.Data, "requiredCapabilities")) {
		for _, a := range answers {
			if a.capability == name {
				flags = append(flags, a.flag)
			}
		}
	}
	if len(flags) == 0 {
		return nil
	}
	c := e.Clone()
	c.Hint = "a hook has to answer the server, such as " + strings.Join(flags, " ")
	return c
}

// Unanswered returns the error for a call that cannot continue because no hook answers the server's request.
func (f *client) Unanswered(method string, params json.RawMessage) error {
	e := &wire.Error{Message: "the server requests " + method + ", which no hook answers"}
	if words := question(params); words != "" {
		e.Message = "the server asks: " + words
	}
	if a, ok := answers[method]; ok {
		e.Hint = "a hook has to answer, such as " + a.flag
	}
	return e
}

// question describes a request to the user: its message with the fields of its form, or the last message of a sampling request.
func question(params json.RawMessage) string {
	words := scan.String(scan.Get(params, "message"))
	if fields := catalog.Keys(scan.At(params, "/requestedSchema/properties")); len(fields) > 0 {
		words += " (" + strings.Join(fields, ", ") + ")"
	}
	if url := scan.String(scan.Get(params, "url")); url != "" {
		words += " " + url
	}
	for msg := range scan.Elements(scan.Get(params, "messages")) {
		words = scan.String(scan.At(msg, "/content/text"))
	}
	return strings.TrimSpace(words)
}

// Complete adds the default values of a form's fields to a hook's answer that does not contain these fields.
func (f *client) Complete(m *wire.Message, result json.RawMessage) json.RawMessage {
	content := scan.Get(result, "content")
	if m.Method != "elicitation/create" || scan.String(scan.Get(result, "action")) != "accept" || content != nil && scan.Type(content) != 'o' {
		return result
	}
	var missing scan.Object
	for name, field := range scan.Named(scan.Get(scan.Get(m.Params, "requestedSchema"), "properties")) {
		if val := scan.Get(field, "default"); val != nil && scan.Get(content, name) == nil {
			missing.Add(name, val)
		}
	}
	if missing.Empty() {
		return result
	}
	return codec.Merged(result, scan.Pair("content", missing.End()))
}
