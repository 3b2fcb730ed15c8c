package all_test

import (
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/scan"
)

// FuzzDecode checks that each dialect decodes any input in both roles without a panic, that its events can be printed, that its
// replies are JSON, and that the other role can read them.
func FuzzDecode(f *testing.F) {
	var specs []dialect.Spec
	for _, name := range all.Names() {
		spec := all.Named(name)
		for _, serving := range []bool{false, true} {
			for _, seed := range decodeSeeds {
				f.Add(uint8(len(specs)), serving, []byte(seed))
			}
		}
		specs = append(specs, spec)
	}
	f.Fuzz(func(t *testing.T, which uint8, serving bool, raw []byte) {
		spec := specs[int(which)%len(specs)]
		c := spec.NewCodec(dialect.CodecOptions{Serving: serving, MaxDepth: 50})
		op := dialect.Op{Kind: dialect.Call, Method: "a.b", Params: []byte(`{}`)}
		_, _ = c.Encode(op)
		for range 2 {
			msgs, _, err := c.Decode(raw)
			var kept []wire.Message
			for _, m := range msgs {
				kept = append(kept, m.Clone())
			}
			answer(t, spec, c, op, kept)
			if err != nil {
				return
			}
		}
	})
}

// answer handles messages as a connection does.
func answer(t *testing.T, spec dialect.Spec, c dialect.Codec, op dialect.Op, msgs []wire.Message) {
	var replies [][]byte
	for _, m := range msgs {
		if ev, err := dialect.EventOf(c, m); err == nil {
			if shown := ev.AppendJSON(nil); m.Kind != wire.Invalid && scan.Valid(shown, wire.DefaultMaxDepth) != nil {
				t.Errorf("%s: %s is printed as %s", spec.Name, m.Raw, shown)
			}
		}
		switch m.Kind {
		case wire.Response:
			c.Opened(op, m)
		case wire.Request:
			for _, ev := range []wire.Event{
				{Kind: wire.Data, Data: []byte(`{"a":1}`), Final: true},
				{Kind: wire.Failure, Err: wire.NewError(1, "\xff"), Final: true},
			} {
				out, _ := c.Reply(m, ev)
				replies = append(replies, out...)
			}
		}
	}
	for _, reply := range replies {
		if scan.Valid(reply, wire.DefaultMaxDepth) != nil {
			t.Errorf("%s: a response is not JSON: %s", spec.Name, reply)
		}
		_, _, _ = spec.NewCodec(dialect.CodecOptions{}).Decode(reply)
	}
}

// decodeSeeds are messages from each dialect's specification.
var decodeSeeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"a.b","params":{"_meta":{"progressToken":1}}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"subscription":"s","content":[{"type":"text","text":"a"}],"structuredContent":{}}}`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m","data":{"kind":"x"}}}`,
	`[{"jsonrpc":"2.0","id":"a","method":"m"},{"jsonrpc":"2.0","method":"n","params":[1]},7]`,
	`{"method":"$/progress","params":{"token":1,"value":{"kind":"end"}}}`,
	`{"seq":1,"type":"request","command":"initialize","arguments":{}}`,
	`{"seq":2,"type":"response","request_seq":1,"success":false,"command":"x","message":"m","body":{"error":{"id":1,"format":"f"}}}`,
	`{"seq":3,"type":"event","event":"stopped","body":{"threadId":1}}`,
	`{"id":1,"method":"Runtime.evaluate","params":{"expression":"1"},"sessionId":"S"}`,
	`{"type":"success","id":1,"result":{"type":"success","result":{"type":"number","value":1}}}`,
	`{"type":"error","id":1,"error":"no such frame","message":"m"}`,
	`{"type":"event","method":"log.entryAdded","params":{}}`,
	`{"QMP":{"version":{"qemu":{"micro":0,"minor":2,"major":8}},"capabilities":["oob"]}}`,
	`{"execute":"a.b","arguments":{},"id":1}`,
	`{"return":{},"id":1}`,
	`{"error":{"class":"GenericError","desc":"d"},"id":1}`,
	`{"event":"STOP","timestamp":{"seconds":1,"microseconds":2},"data":{}}`,
	`{"id":1,"method":"update","params":["a",{"t":{"r":{"new":{}}}}]}`,
	`{"id":1,"result":null,"error":"text"}`,
	`{"notification":"n","params":[1]}`,
	`{"type":"eval_result","id":"1","success":true,"value":"1"}`,
	`{"type":"handshake","protocol":1,"server":"s"}`,
	`{"jsonrpc":"2.0","method":"job.yield","resource":"job","verb":"yield","target":"j","result":{"status":"done"},"request_id":1}`,
	`{"jsonrpc":"2.0","id":7,"method":"callback.call","params":{"id":"cb-1","args":[{"type":"bool","value":true}]}}`,
	`{"jsonrpc":"2.0","id":1,"method":"handshake","params":{"protocol":"0.1","bindings":[{"name":"a","input":{"$ref":"#/$defs/a"}}]}}`,
	`{"a`, `[]`, ``, `7`,
}

// JSONRPCMember describes the messages that a dialect sends.
func TestJSONRPCMember(t *testing.T) {
	for _, spec := range all.Specs() {
		m, err := spec.NewCodec(dialect.CodecOptions{}).Encode(dialect.Op{Kind: dialect.Call, Method: "a"})
		if has := scan.Get(m.Raw, "jsonrpc") != nil; err != nil || has != spec.JSONRPCMember {
			t.Errorf("%s: %s, %v", spec.Name, m.Raw, err)
		}
	}
}
