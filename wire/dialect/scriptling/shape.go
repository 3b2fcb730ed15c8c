package scriptling

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
)

// Shape returns how a tape reads the plugin protocol's messages. A plugin assigns the ids of its objects, and a host
// those of its callbacks.
func Shape() dialect.Shape {
	s := jsonrpc.Shape(jsonrpc.V2)
	s.MadeUp = slices.Concat(s.MadeUp, dialect.Places("/params/object_id", "/**/callback/id", "/**/remote/id"), []dialect.Place{
		{Method: "object.new", Pointer: "/result/id"}, {Method: "callback.call", Pointer: "/params/id"},
	})
	s.Varies = slices.Concat(s.Varies, []dialect.Place{
		{Method: "scriptling.handshake", Pointer: "/params/host"}, {Method: "scriptling.handshake", Pointer: "/params/host_version"},
	})
	return s
}
