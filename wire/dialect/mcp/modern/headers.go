package modern

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Headers that repeat members of a request.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerParam   = "Mcp-Param-"
)

// named maps methods to the member of their params that the header Mcp-Name repeats.
var named = map[string]string{
	callTool: "name", getPrompt: "name", readResource: "uri",
	taskGet: "taskId", taskUpdate: "taskId", taskCancel: "taskId",
}

// Posts returns the rules for POST requests in versions without a handshake.
func (s *Server) Posts() *wire.HTTPPosts {
	return &wire.HTTPPosts{Check: s.checkPost, Status: statusOf}
}

// checkPost compares the headers of a POST with its message. own reports whether the message belongs to a version without
// a handshake. The error is the response to a POST that is rejected.
func (s *Server) checkPost(h http.Header, msg []byte) (own bool, err *wire.Error) {
	version := h.Get(headerVersion)
	if scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		return version == Version, wire.NewError(wire.CodeParse, "the body is not JSON")
	}
	method, _ := scan.Text(scan.Get(msg, "method"))
	params := scan.Get(msg, "params")
	switch {
	case version != Version && !isModern(method, params), method == "initialize" && meta(params, MetaVersion) == nil:
		return false, nil
	case scan.Type(msg) != 'o':
		return true, wire.NewError(wire.CodeInvalidRequest, "the body must be one request or notification")
	case method == "":
		return true, wire.NewError(wire.CodeInvalidRequest, "the body is neither a request nor a notification")
	case scan.Get(msg, "id") == nil:
		return true, nil
	case version == "":
		return true, mismatch("the header MCP-Protocol-Version is missing")
	}
	inBody, ok := scan.Text(meta(params, MetaVersion))
	if ok && inBody != version {
		return true, mismatch("MCP-Protocol-Version %q does not match the body's %q", version, inBody)
	}
	if err := check(params); err != nil {
		return true, err
	}
	return true, s.checkHeaders(h, method, params)
}

// checkHeaders compares the headers other than the version's.
func (s *Server) checkHeaders(h http.Header, method string, params json.RawMessage) *wire.Error {
	if got := h.Values(headerMethod); len(got) != 1 || got[0] != method {
		return mismatch("Mcp-Method %q does not match the method %q", strings.Join(got, ", "), method)
	}
	if member := named[method]; member != "" {
		if err := compare(h, headerName, scan.Get(params, member)); err != nil {
			return err
		}
	}
	if method != callTool {
		return nil
	}
	tool, _ := scan.Text(scan.Get(params, "name"))
	m := s.host.Backend.Catalog().Method(tool)
	if m == nil {
		return nil
	}
	headers, _ := Headers(m.Params) // clients do not call a tool with an invalid header
	for _, header := range headers {
		if err := compare(h, header.Name, header.In(scan.Get(params, "arguments"))); err != nil {
			return err
		}
	}
	return nil
}

// compare checks that a header repeats value. If value is nil, the header must be missing or empty.
func compare(h http.Header, name string, value json.RawMessage) *wire.Error {
	values := h.Values(name)
	switch {
	case value == nil && h.Get(name) == "":
		return nil
	case len(values) == 0:
		return mismatch("the header %s is missing", name)
	case len(values) > 1:
		return mismatch("the header %s is repeated", name)
	}
	got, ok := decoded(values[0])
	if !ok {
		return mismatch("the header %s is not encoded correctly", name)
	}
	want, text := scan.Text(value)
	if !text {
		want = string(value)
	}
	if got == want || !text && sameNumber(got, want) {
		return nil
	}
	return mismatch("the header %s %q does not match the body's %q", name, got, want)
}

// sameNumber reports whether two numbers have the same value, such as 42.0 and 42.
func sameNumber(a, b string) bool {
	const longest = 64 // in bytes, because comparing longer numbers could be slow
	if len(a) > longest || len(b) > longest || scan.Type([]byte(a)) != 'n' || scan.Type([]byte(b)) != 'n' || strings.ContainsAny(a+b, "eE") {
		return false
	}
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	return ok && ok2 && x.Cmp(y) == 0
}

// decoded returns the value of a header, which may be encoded in Base64. It returns false for an invalid value.
func decoded(value string) (string, bool) {
	const before, after = "=?base64?", "?="
	if inner, ok := strings.CutPrefix(value, before); ok && strings.HasSuffix(inner, after) {
		b, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(inner, after))
		return string(b), err == nil && utf8.Valid(b)
	}
	return value, !strings.ContainsFunc(value, func(c rune) bool { return c != '\t' && (c < ' ' || c > '~') })
}

func mismatch(format string, args ...any) *wire.Error {
	return wire.NewError(CodeHeader, "Header mismatch: "+fmt.Sprintf(format, args...))
}

// statusOf returns the HTTP status for a response with that error code.
func statusOf(code string) int {
	switch code {
	case "-32601":
		return http.StatusNotFound
	case "-32020", "-32021", "-32022":
		return http.StatusBadRequest
	}
	return http.StatusOK
}
