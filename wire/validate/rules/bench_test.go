package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/validate/rules"
)

// BenchmarkChecker measures the check of one message in a long conversation, for each dialect.
func BenchmarkChecker(b *testing.B) {
	for _, dialect := range []string{"jsonrpc", "scomp", "introspect", "ro", "hotrepl", "scriptling"} {
		b.Run(dialect, func(b *testing.B) {
			set, err := rules.For(dialect)
			if err != nil {
				b.Skip(err)
			}
			c, err := rules.New(set, nil, func(string, string) {})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				l := tape.Line{Number: n + 2, Kind: tape.Message}
				var text string
				if l.Dir, text = wire.Recv, long(dialect, n); n%2 == 0 && dialect != "introspect" && dialect != "hotrepl" {
					l.Dir = wire.Send
				}
				l.Msg = json.RawMessage(text)
				if _, err := c.Line(context.Background(), &l); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// long returns message n of a long conversation.
func long(dialect string, n int) string {
	call := n%2 == 0
	switch id := n / 2; dialect {
	case "introspect":
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"service_subscription","params":{"subscription":"sub_1","result":{"service_hash":"h","type":"data","provenance":["storage"],"content_type":"a.b","data":{"n":%d}}}}`, n)
	case "hotrepl":
		return fmt.Sprintf(`{"type":"subscribe_result","id":"w","seq":%d,"hasValue":true,"value":1,"durationMs":1,"final":false}`, n)
	case "scriptling":
		if call {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"function.call","params":{"name":"greet","args":[{"type":"string","value":"Ada"}]}}`, id)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"type":"string","value":"Hello, Ada"}}`, id)
	case "ro":
		if call {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"user.get","resource":"user","verb":"get","target":"42"}`, id)
		}
	case "scomp":
		if call {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"invoke","params":{"name":"getOrder","input":{"id":"o_001"}}}`, id)
		}
	default:
		if call {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"order.get","params":{"id":"o_001"}}`, id)
		}
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"value":{"id":"o_001","total":142.5}}}`, n/2)
}
