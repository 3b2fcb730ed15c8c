//go:build !race

package codec

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A payload that a bare path or a variable names is handed on unchanged, wherever it is: programs
// that look beside it decode nothing of it.
func TestPayloadIsNotDecoded(t *testing.T) {
	payload := `{"rows":[` + strings.Repeat(`{"a":1.50,"b":"x"},`, 50_000) + `0]}` // a megabyte
	c := speaks(t, `
name = "payload"
[call]
method = '"run"'
params = "$params"
result = ".content"
error = "if .failed then {code: 1, message: .failed} else empty end"
[during]
items = { method = "partly", when = ".of == $method", event = ".value" }
[subscribe.watch]
item = { method = "changed", when = ".id == $params.id", event = ".value" }
`)
	encode := func(op dialect.Op) wire.Message {
		m, err := c.Encode(op)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	encode(dialect.Op{Kind: dialect.Subscribe, Method: "watch", Params: json.RawMessage(`{"id":7}`)})
	encode(dialect.Op{Kind: dialect.Call, Method: "slow"})
	for name, step := range map[string]func() wire.Message{
		"an item": func() wire.Message {
			return decoded(t, c, `{"jsonrpc":"2.0","method":"changed","params":{"id":7,"value":`+payload+`}}`)
		},
		"data of a call": func() wire.Message {
			m := decoded(t, c, `{"jsonrpc":"2.0","method":"partly","params":{"value":`+payload+`,"of":"slow"}}`)
			m.Body = m.Event.Data
			return m
		},
		"a result": func() wire.Message {
			m := encode(dialect.Op{Kind: dialect.Call, Method: "echo"})
			return decoded(t, c, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"content":`+payload+`}}`)
		},
		"params": func() wire.Message {
			m := encode(dialect.Op{Kind: dialect.Call, Method: "echo", Params: json.RawMessage(payload)})
			m.Body = []byte(payload)
			if !strings.Contains(string(m.Raw), payload) {
				t.Error("params: not as they were given")
			}
			return m
		},
	} {
		step() // what is made once
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := step()
		runtime.ReadMemStats(&after)
		if string(m.Body) != payload {
			t.Errorf("%s: %.80s", name, m.Body)
		}
		// The message itself is made here, from text; a decoded payload would be fifteen times as much.
		if took := after.TotalAlloc - before.TotalAlloc; took > 6*uint64(len(payload)) {
			t.Errorf("%s of %d bytes took %d bytes", name, len(payload), took)
		}
	}
}

// decoded returns the last message that raw comes to.
func decoded(t *testing.T, c *Codec, raw string) wire.Message {
	t.Helper()
	msgs, _, err := c.Decode([]byte(raw))
	if err != nil || len(msgs) == 0 {
		t.Fatalf("%v, %v", msgs, err)
	}
	return msgs[len(msgs)-1]
}
