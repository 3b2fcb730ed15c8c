package ro

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
)

// Shape returns how a tape reads RO-JRPC's messages: an async result names its request, and the job to which it
// belongs.
func Shape() dialect.Shape {
	s := jsonrpc.Shape(jsonrpc.V2)
	s.MadeUp = slices.Concat(s.MadeUp, dialect.Places("/request_id", "/result/job", "/result/job_id"), []dialect.Place{
		{Method: "job.*", Pointer: "/target"}, {Method: "job.*", Pointer: "/result/id"},
	})
	return s
}
