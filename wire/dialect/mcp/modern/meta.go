// Package modern serves the versions of the Model Context Protocol without handshake and sessions: each request contains its version and
// its client's capabilities. A hook's questions to the client are the result of its call, and the client's next request continues the
// hook.
package modern

import (
	"encoding/json"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Version is the version without handshake and sessions that rpcx supports.
const Version = "2026-07-28"

// Versions are all protocol versions that rpcx serves, latest first.
var Versions = []string{Version, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// The members of _meta.
const (
	prefix           = "io.modelcontextprotocol/"
	MetaVersion      = prefix + "protocolVersion"
	MetaClient       = prefix + "clientInfo"
	MetaCapabilities = prefix + "clientCapabilities"
	MetaLevel        = prefix + "logLevel"
	MetaServer       = prefix + "serverInfo"
	MetaSubscription = prefix + "subscriptionId"
	Tasks            = prefix + "tasks" // an extension, among the capabilities
)

// The error codes of the specification.
const (
	CodeHeader     = -32020 // a header does not match the message
	CodeCapability = -32021 // the client does not have the capability
	CodeVersion    = -32022 // the version is not supported
)

// The kinds of result, in resultType.
const (
	complete      = "complete"
	inputRequired = "input_required"
	taskResult    = "task"
)

const discover = "server/discover"

// levels are the levels of log entries, in ascending order.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// meta returns a member of the _meta of params, or nil.
func meta(params json.RawMessage, name string) json.RawMessage {
	return scan.Get(scan.Get(params, "_meta"), name)
}

// isModern reports whether a request has a version without handshake.
func isModern(method string, params json.RawMessage) bool {
	return method == discover || meta(params, MetaVersion) != nil
}

// check returns the error for a request whose _meta is malformed or has another version, or nil.
func check(params json.RawMessage) *wire.Error {
	version, ok := scan.Text(meta(params, MetaVersion))
	level, levelled := scan.Text(meta(params, MetaLevel))
	switch {
	case !ok:
		return wire.NewError(wire.CodeInvalidParams, "_meta lacks "+MetaVersion)
	case version != Version:
		return unsupported(version)
	case scan.Type(meta(params, MetaCapabilities)) != 'o':
		return wire.NewError(wire.CodeInvalidParams, "_meta lacks "+MetaCapabilities)
	case meta(params, MetaLevel) != nil && (!levelled || !slices.Contains(levels, level)):
		return wire.NewError(wire.CodeInvalidParams, "unknown log level")
	}
	return nil
}

func unsupported(version string) *wire.Error {
	return wire.NewError(CodeVersion, "Unsupported protocol version").WithData(map[string]any{"supported": Versions, "requested": version})
}

// lacks returns the error for a request that needs a capability, such as {"sampling":{}}, that its client has not declared.
func lacks(capability json.RawMessage) *wire.Error {
	return wire.NewError(CodeCapability, "Missing required client capability").WithData(map[string]json.RawMessage{"requiredCapabilities": capability})
}
