// Package modern serves the versions of the Model Context Protocol that have neither handshake nor sessions: each request contains its
// version and its client's capabilities. A hook's questions to the client are sent as the result of its call; the client's next
// request contains the responses, and the hook continues.
package modern

import (
	"encoding/json"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Version is the supported version that has neither handshake nor sessions.
const Version = "2026-07-28"

// Versions contains all supported versions, latest first.
var Versions = []string{Version, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Members of _meta.
const (
	prefix           = "io.modelcontextprotocol/"
	MetaVersion      = prefix + "protocolVersion"
	MetaClient       = prefix + "clientInfo"
	MetaCapabilities = prefix + "clientCapabilities"
	MetaLevel        = prefix + "logLevel"
	MetaServer       = prefix + "serverInfo"
	MetaSubscription = prefix + "subscriptionId"
	Tasks            = prefix + "tasks" // an extension, declared as a capability
)

// Error codes of the specification.
const (
	CodeHeader     = -32020 // a header contradicts the message
	CodeCapability = -32021 // the client lacks a capability
	CodeVersion    = -32022 // the version is unsupported
)

// Values of resultType.
const (
	complete      = "complete"
	inputRequired = "input_required"
	taskResult    = "task"
)

const discover = "server/discover"

// levels contains the levels of log entries, in ascending order.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// meta returns a member of the _meta of params, or nil.
func meta(params json.RawMessage, name string) json.RawMessage {
	return scan.Get(scan.Get(params, "_meta"), name)
}

// isModern reports whether a request belongs to a version without a handshake.
func isModern(method string, params json.RawMessage) bool {
	return method == discover || meta(params, MetaVersion) != nil
}

// check returns an error if a request's _meta is malformed or its version is not supported, and nil otherwise.
func check(params json.RawMessage) *wire.Error {
	version, ok := scan.Text(meta(params, MetaVersion))
	level, levelled := scan.Text(meta(params, MetaLevel))
	switch {
	case !ok:
		return wire.NewError(wire.CodeInvalidParams, "_meta lacks "+MetaVersion)
	case version != Version:
		return wire.NewError(CodeVersion, "Unsupported protocol version").WithData(map[string]any{"supported": Versions, "requested": version})
	case scan.Type(meta(params, MetaCapabilities)) != 'o':
		return wire.NewError(wire.CodeInvalidParams, "_meta lacks "+MetaCapabilities)
	case meta(params, MetaLevel) != nil && (!levelled || !slices.Contains(levels, level)):
		return wire.NewError(wire.CodeInvalidParams, "unknown log level")
	}
	return nil
}

// lacks returns the error for a request that requires a capability, such as {"sampling":{}}, that its client did not
// declare.
func lacks(capability json.RawMessage) *wire.Error {
	return wire.NewError(CodeCapability, "Missing required client capability").WithData(map[string]json.RawMessage{"requiredCapabilities": capability})
}
