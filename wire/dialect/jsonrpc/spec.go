package jsonrpc

import (
	_ "embed" // the rules and the probes
	"slices"

	"rpcx/wire/dialect"
)

// rpcx validate has rules and probes for each version.
var (
	//go:embed rules.toml
	rules string
	//go:embed rules1.toml
	rules1 string
	//go:embed probes.toml
	probes string
	//go:embed probes1.toml
	probes1 string
)

// Spec returns the row for JSON-RPC 2.0 in the table of dialects.
func Spec() dialect.Spec {
	s := spec("jsonrpc", V2)
	s.JSONRPCMember = true
	s.Validation = dialect.Validation{Rules: rules, Probes: probes}
	s.Detection = &dialect.Detection{Probe: &dialect.Probe{
		Send: `{jsonrpc: "2.0", id: $id, method: "rpc.discover"}`,
		Is:   `.jsonrpc == "2.0" and (has("result") or has("error") or has("method"))`, Weak: true,
	}}
	return s
}

// Spec1 returns the row for JSON-RPC 1.0.
func Spec1() dialect.Spec {
	s := spec("jsonrpc1", V1)
	s.Validation = dialect.Validation{Rules: rules1, Probes: probes1}
	s.Detection = &dialect.Detection{
		First: []string{`has property other than 'id', 'method'`}, Instead: []string{"cdp"},
		Probe: &dialect.Probe{
			Send: `{id: $id, method: "rpc.discover", params: []}`,
			Is:   `(has("jsonrpc") | not) and has("id") and (has("result") or has("error")) and $request.method? == "rpc.discover"`, Weak: true,
		},
	}
	return s
}

func spec(name string, v Version) dialect.Spec {
	return dialect.Spec{
		Name: name,
		NewCodec: func(o dialect.CodecOptions) dialect.Codec {
			return NewCodec(Options{Version: v, Cancels: cancels(o.Framing), MaxDepth: o.MaxDepth})
		},
		NewServer: NewServer,
		Shape:     func() dialect.Shape { return Shape(v) },
		Params:    dialect.Params{Styles: []string{"object", "wrapped", "positional"}},
		Bridge:    dialect.Bridging{Endless: true, Cancels: cancels},
	}
}

// cancels reports whether a notification cancels a pending call. Only the Language Server Protocol defines one, and its
// framing identifies that protocol.
func cancels(framing string) bool { return framing == "header" }

// Shape describes the messages of version v for tapes. The assigned values follow conventions on top of JSON-RPC:
// subscriptions (go-ethereum and others), progress tokens and cancelled requests (the Language Server Protocol, the
// Model Context Protocol).
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
				{Method: "client/registerCapability", Pointer: "/params/registrations/*/id"},
				{Method: "client/unregisterCapability", Pointer: "/params/unregisterations/*/id"}, // the specification's spelling
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
