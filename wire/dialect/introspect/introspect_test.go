package introspect

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNames(t *testing.T) {
	for method, ok := range map[string]bool{
		"storage_tree_create": true, "storage.tree_create": true, "shell_execute": true, "v2_get": true,
		"storage": false, "_get": false, "storage_": false, "storage-tree": false, "Storage_get": true,
		"storage_treeGet": true, "storage.treeGet": true, "fs_tree.get": true, "": false, "a.b.c": false, "a b_c": false, "getOrder": false,
	} {
		if err := CheckName(method, false); (err == nil) != ok {
			t.Errorf("%q: %v", method, err)
		}
	}
	for _, method := range []string{"eth_subscribe", "accountSubscribe", "chain_subscribeNewHeads", "chainHead_v1_follow"} {
		if err := CheckName(method, true); err != nil {
			t.Error(err)
		}
	}
}

func TestOpened(t *testing.T) {
	longest := `"` + strings.Repeat("i", longestID) + `"`
	for result, want := range map[string]string{
		`"sub_001"`: `"sub_001" open`, `9007199254740993`: `9007199254740993 open`,
		`{"subscription_id":"a"}`: `"a" open`, `{"a":1}`: ` over`, `[1]`: ` over`, `true`: ` over`, `null`: ` over`,
		longest: longest + " open", `"x` + longest[1:]: ` over`,
	} {
		stream, final := NewCodec(dialect.CodecOptions{}).Opened(dialect.Op{}, wire.Message{Kind: wire.Response, Body: []byte(result)})
		got := string(stream) + " open"
		if final {
			got = string(stream) + " over"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", result, got, want)
		}
	}
}

// The events are those of section 2 of the specification, and variants that other servers send.
func TestEvents(t *testing.T) {
	tests := []struct{ name, item, want string }{
		{
			"progress", `{"service_hash":"a1b2c3d4","type":"progress","provenance":["shell"],"message":"Executing command...","percentage":0.5}`,
			`{"event":"progress","message":"Executing command...","fraction":0.5,"source":["shell"],"extra":{"service_hash":"a1b2c3d4"}}`,
		},
		{"progress out of a hundred", `{"type":"progress","message":"m","percentage":50}`, `{"event":"progress","message":"m","fraction":0.5}`},
		{"progress out of reach", `{"type":"progress","message":"m","percentage":500}`, `{"event":"progress","message":"m","extra":{"percentage":500}}`},
		{
			"data", `{"service_hash":"a1","type":"data","provenance":["shell"],"content_type":"shell.output","data":{"stdout":"Hello, World!\n","exit_code":0}}`,
			`{"event":"data","content_type":"shell.output","data":{"stdout":"Hello, World!\n","exit_code":0},"source":["shell"],"extra":{"service_hash":"a1"}}`,
		},
		{"data alone", `{"type":"data","data":null}`, `{"event":"data","data":null}`},
		{"data without data", `{"type":"data","rows":[1]}`, `{"event":"data","data":{"type":"data","rows":[1]},"extra":{"rows":[1]}}`},
		{
			"an error", `{"service_hash":"a1","type":"error","provenance":["storage"],"error":"Resource not found: tree-123","recoverable":false}`,
			`{"event":"error","message":"Resource not found: tree-123","source":["storage"],"extra":{"service_hash":"a1","recoverable":false}}`,
		},
		{"an error with more", `{"type":"error","error":{"code":-5,"message":"m","data":1},"recoverable":true}`, `{"event":"error","code":-5,"message":"m","data":1,"extra":{"recoverable":true}}`},
		{"done", `{"service_hash":"a1","type":"done","provenance":{"segments":["a","b"]}}`, `{"event":"done","source":["a","b"],"extra":{"service_hash":"a1"}}`},
		{
			"guidance", `{"service_hash":"a1","type":"guidance","provenance":["storage"],"error_kind":"method_not_found","module":"storage","method":"tree_destory","available_methods":["tree_create"],"action":"try_method","suggested_method":"tree_delete"}`,
			`{"event":"guidance","kind":"method_not_found","action":"try_method","message":"the module storage has no method \"tree_destory\"","source":["storage"],"extra":{"service_hash":"a1","module":"storage","method":"tree_destory","available_methods":["tree_create"],"suggested_method":"tree_delete"}}`,
		},
		{
			"guidance to a module", `{"type":"guidance","error_kind":"module_not_found","module":"storag","action":"call_service_schema"}`,
			`{"event":"guidance","kind":"module_not_found","action":"call_service_schema","message":"unknown module \"storag\"","extra":{"module":"storag"}}`,
		},
		{
			"guidance to params", `{"type":"guidance","error_kind":"invalid_params","method":"storage.tree_get","reason":"missing required field: tree_id","action":"custom","message":"The tree_id must be a valid UUID."}`,
			`{"event":"guidance","kind":"invalid_params","action":"custom","message":"storage.tree_get: missing required field: tree_id. The tree_id must be a valid UUID.","extra":{"method":"storage.tree_get","reason":"missing required field: tree_id","message":"The tree_id must be a valid UUID."}}`,
		},
		{"a type of its own", `{"service_hash":"a1","type":"heartbeat","n":1}`, `{"event":"data","kind":"heartbeat","data":{"service_hash":"a1","type":"heartbeat","n":1}}`},
		{"another server's item", `{"type":"0x2","hash":"0x1"}`, `{"event":"data","data":{"type":"0x2","hash":"0x1"}}`},
		{"no object", `[1.10]`, `{"event":"data","method":"service_subscription","data":[1.10]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := NewCodec(dialect.CodecOptions{})
			msgs, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","method":"service_subscription","params":{"subscription":"sub_001","result":` + test.item + `}}`))
			if err != nil || len(msgs) != 1 || msgs[0].Kind != wire.Item || string(msgs[0].Stream) != `"sub_001"` {
				t.Fatal(msgs, err)
			}
			ev, err := dialect.EventOf(c, msgs[0].Clone())
			if got := string(ev.AppendJSON(nil)); err != nil || got != test.want {
				t.Errorf("%s, %v\nwant %s", got, err, test.want)
			}
			if done := strings.Contains(test.item, `"done"`); msgs[0].Final != done || ev.Final != done {
				t.Error("final:", msgs[0].Final, ev.Final)
			}
		})
	}
}

// A data event that repeats members of the previous event costs one allocation in addition to its data.
func TestDataAllocates(t *testing.T) {
	c := NewCodec(dialect.CodecOptions{})
	raw := []byte(`{"jsonrpc":"2.0","method":"m","params":{"subscription":"s","result":{"service_hash":"a1","type":"data","provenance":["x"],"content_type":"x.y","data":1}}}`)
	plain := []byte(`{"jsonrpc":"2.0","method":"m","params":{"subscription":"s","result":{"number":"0x1"}}}`)
	for want, raw := range [][]byte{plain, raw} {
		var ev wire.Event
		n := testing.AllocsPerRun(100, func() {
			msgs, _, _ := c.Decode(raw)
			_ = c.Event(&msgs[0], &ev)
		})
		if int(n) > want {
			t.Errorf("%v allocations, want %d: %s", n, want, raw)
		}
	}
}

// FuzzDecode checks that each JSON message becomes an event.
func FuzzDecode(f *testing.F) {
	for _, item := range []string{
		`{"service_hash":"a","type":"data","provenance":{"segments":["a"]},"content_type":"x","data":[1.10]}`,
		`{"type":"progress","percentage":50,"message":1}`, `{"type":"guidance","error_kind":"invalid_params","method":"a.b","reason":"r"}`,
		`{"type":"error","error":{"code":"x"},"recoverable":"no","data":{}}`, `{"type":"done"}`, `{"event":"stop"}`, `{"type":"data","a\"b":1}`,
	} {
		f.Add([]byte(fmt.Sprintf(`{"method":"m","params":{"subscription":9007199254740993,"result":%s}}`, item)))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1.0,"method":"a_b","params":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := NewCodec(dialect.CodecOptions{})
		msgs, _, err := c.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range msgs {
			m := m.Clone()
			ev, err := dialect.EventOf(c, m)
			if err != nil {
				t.Fatal(err)
			}
			c.Opened(dialect.Op{}, m)
			line := []byte(`{"method":"m","params":{"subscription":1,"result":` + string(ev.AppendJSON(nil)) + `}}`)
			if again, _, _ := NewCodec(dialect.CodecOptions{}).Decode(line); m.Kind != wire.Invalid && (len(again) != 1 || again[0].Kind != wire.Item) {
				t.Fatalf("the event of %s is not JSON: %s", raw, line)
			}
			if m.Kind != wire.Request {
				continue
			}
			replies, err := c.Reply(m, wire.Event{Data: []byte("1")})
			if err != nil || len(replies) != 1 {
				t.Fatal(replies, err)
			}
			answers, _, _ := c.Decode(replies[0])
			if len(answers) != 1 || string(answers[0].ID) != string(m.ID) {
				t.Fatalf("%s: got the response %s", m.Raw, replies[0])
			}
		}
	})
}
