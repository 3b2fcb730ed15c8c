package introspect

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
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
		testkit.OK(t, err)
		for _, m := range msgs {
			m := m.Clone()
			ev, err := dialect.EventOf(c, m)
			testkit.OK(t, err)
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

// The member "error" of an error event is a string, an error object, or another value.
func TestErrorEvents(t *testing.T) {
	for member, want := range map[string]string{
		`"no"`: "|no|", `{"code":7,"message":"no","data":[1]}`: "7|no|[1]", `{"code":"x","message":"no"}`: `"x"|no|`,
		`{"code":{},"message":1}`: `|{"code":{},"message":1}|`, `[1,2]`: "|[1,2]|",
	} {
		c := NewCodec(dialect.CodecOptions{})
		msgs, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","method":"m","params":{"subscription":1,"result":{"type":"error","error":` + member + `}}}`))
		if err != nil || len(msgs) != 1 {
			t.Fatal(msgs, err)
		}
		ev, err := dialect.EventOf(c, msgs[0])
		if err != nil || ev.Err == nil || fmt.Sprintf("%s|%s|%s", ev.Err.Code, ev.Err.Message, ev.Err.Data) != want {
			t.Errorf("%s: %+v, %v", member, ev.Err, err)
		}
	}
}
