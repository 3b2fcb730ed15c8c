package introspect

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
)

// Shape returns how a tape reads this dialect's messages. Every response has the id of a subscription, unless its
// result is an object.
func Shape() dialect.Shape {
	s := jsonrpc.Shape(jsonrpc.V2)
	s.MadeUp = slices.Concat(s.MadeUp, dialect.Places("/result"), []dialect.Place{{Method: "service_unsubscribe", Pointer: "/params/**"}})
	s.Varies = slices.Concat(s.Varies, dialect.Places("/params/result/service_hash", "/params/result/data/hash"))
	return s
}
