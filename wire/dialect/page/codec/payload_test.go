package codec

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

// A payload that a path or a variable selects is passed on unchanged, without decoding.
func TestPayloadIsNotDecoded(t *testing.T) {
	testkit.RaceSkips(t)
	payload := `{"rows":[` + strings.Repeat(`{"a":1.50,"b":"x"},`, 50_000) + `0]}` // a megabyte
	c := dialectOf(t, `
[call]
method = '"run"'
params = "$params"
result = ".content"
error = "if .failed then {code: 1, message: .failed} else empty end"
[during]
items = { method = "partly", when = ".of == $method", event = ".value" }
[subscribe.watch]
item = { method = "changed", when = ".id == $params.id", event = ".value" }
`).newCodec(dialect.CodecOptions{})
	encode := func(op dialect.Op) wire.Message {
		m, err := c.Encode(op)
		testkit.OK(t, err)
		return m
	}
	encode(dialect.Op{Kind: dialect.Subscribe, Method: "watch", Params: json.RawMessage(`{"id":7}`)})
	encode(dialect.Op{Kind: dialect.Call, Method: "slow"})
	for name, step := range map[string]func() wire.Message{
		"an item": func() wire.Message {
			return decoded(t, c, `{"jsonrpc":"2.0","method":"changed","params":{"id":7,"value":`+payload+`}}`)
		},
		"data for a call": func() wire.Message {
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
				t.Error("params: the bytes were changed")
			}
			return m
		},
	} {
		step() // allocates the reused buffers
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := step()
		runtime.ReadMemStats(&after)
		if string(m.Body) != payload {
			t.Errorf("%s: %.80s", name, m.Body)
		}
		// The message is built from text here. A decoded payload would take fifteen times as much memory.
		if took := after.TotalAlloc - before.TotalAlloc; took > 6*uint64(len(payload)) {
			t.Errorf("%s of %d bytes used %d bytes", name, len(payload), took)
		}
	}
}

// decoded returns the last message that raw contains.
func decoded(t *testing.T, c *Codec, raw string) wire.Message {
	t.Helper()
	msgs, _, err := c.Decode([]byte(raw))
	if err != nil || len(msgs) == 0 {
		t.Fatalf("%v, %v", msgs, err)
	}
	return msgs[len(msgs)-1]
}

// A stream in the dialect file takes precedence over one of the base.
func TestItemsOfTheBase(t *testing.T) {
	c := dialectOf(t, `
[subscribe.ticks]
item = { method = "ticks", when = ".subscription == $result", event = ".result" }
`).newCodec(dialect.CodecOptions{})
	m, err := c.Encode(dialect.Op{Kind: dialect.Subscribe, Method: "ticks"})
	if err != nil || string(m.ID) != "1" {
		t.Fatalf("%s, %v", m.ID, err)
	}
	msgs, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","id":1,"result":"s1"}`))
	if err != nil || len(msgs) != 1 {
		t.Fatalf("%v, %v", msgs, err)
	}
	stream, final := c.Opened(dialect.Op{Kind: dialect.Subscribe, Method: "ticks"}, msgs[0])
	if stream == nil || final {
		t.Fatalf("no stream was opened")
	}
	for raw, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s1","result":{"b":1.10,"a":2}}}`: `{"b":1.10,"a":2}`,
		`{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s2","result":7}}`:                `7`,
	} {
		msgs, _, err := c.Decode([]byte(raw))
		if err != nil || len(msgs) != 1 || msgs[0].Kind != wire.Item || string(msgs[0].Body) != want {
			t.Fatalf("%s: %+v, %v", raw, msgs, err)
		}
		if ours := string(msgs[0].Stream) == string(stream); ours != (want != "7") {
			t.Errorf("%s belongs to the stream %s", raw, msgs[0].Stream)
		}
	}
}
