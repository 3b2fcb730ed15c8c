package scomp

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
)

// Shape returns how a tape reads scomp's messages. A server assigns the ids of its sessions, and each side those of its
// function values.
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
