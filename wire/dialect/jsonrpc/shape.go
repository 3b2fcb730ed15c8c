package jsonrpc

import (
	"slices"

	"rpcx/wire/dialect"
)

// Shape returns the properties of the messages of version v that a tape needs. The assigned values are those of
// conventions on top of JSON-RPC: subscriptions (go-ethereum and others), progress tokens and cancelled requests (the
// Language Server Protocol, the Model Context Protocol).
func Shape(v Version) dialect.Shape {
	s := dialect.Shape{
		Method: "method", ID: "id",
		Error:   `{"jsonrpc":"2.0","id":$id,"error":{"code":$code,"message":$message,"data":$data}}`,
		Streams: []string{"subscription", "subscriptionId", "subscription_id"},
		Ends: []dialect.Place{ // see UnsubscribeName
			{Method: "*nsubscribe*", Pointer: "/params/*"},
			{Method: "*UNSUBSCRIBE", Pointer: "/params/*"},
			{Method: "*unfollow", Pointer: "/params/*"},
		},
		Ended: `{"jsonrpc":"2.0","id":$id,"result":true}`,
		MadeUp: slices.Concat(
			dialect.Places(
				"/id", "/params/subscription", "/params/subscriptionId", "/params/subscription_id", "/sessionId", "/params/sessionId", "/result/sessionId",
				"/params/token", "/params/workDoneToken", "/params/partialResultToken", "/params/progressToken", "/params/_meta/progressToken",
			),
			[]dialect.Place{
				{Method: "*ubscribe", Pointer: "/result"},
				{Method: "*nsubscribe", Pointer: "/params/0"},
				{Method: "*nsubscribe", Pointer: "/params/id"},
				{Method: "$/cancelRequest", Pointer: "/params/id"},
				{Method: "notifications/cancelled", Pointer: "/params/requestId"},
			}),
		Varies: []dialect.Place{
			{Method: "initialize", Pointer: "/params/clientInfo/**"},
			{Method: "initialize", Pointer: "/params/processId"},
			{Method: "initialize", Pointer: "/result/serverInfo/**"},
		},
	}
	if v == V1 {
		s.Error = `{"result":null,"error":{"code":$code,"message":$message,"data":$data},"id":$id}`
		s.Ended = `{"result":true,"error":null,"id":$id}`
	}
	return s
}
