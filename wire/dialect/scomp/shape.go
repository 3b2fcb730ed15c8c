package scomp

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
)

// Shape returns what a tape needs to know of scomp's messages. Sessions and the ids
// of function values are made up, each by the side that they belong to.
func Shape() dialect.Shape {
	s := jsonrpc.Shape(jsonrpc.V2)
	s.MadeUp = slices.Concat(s.MadeUp, []dialect.Place{
		{Method: handshake, Pointer: "/result/sessionId"},
		{Method: handshake, Pointer: "/params/metadata/sessionId"},
		{Method: invokeWord, Pointer: "/params/ref"},
		{Method: invokeWord, Pointer: "/params/function"},
		{Method: releaseWord, Pointer: "/params/ref"},
		{Method: releaseWord, Pointer: "/params/id"},
		{Method: releaseWord, Pointer: "/params/refs/*"},
	}, dialect.Places("/**/$fn", "/**/$function"))
	s.Varies = slices.Concat(s.Varies, []dialect.Place{
		{Method: handshake, Pointer: "/params/metadata/client/**"},
		{Method: handshake, Pointer: "/result/metadata/server/version"},
	}, dialect.Places("/error/data/stack"))
	return s
}
