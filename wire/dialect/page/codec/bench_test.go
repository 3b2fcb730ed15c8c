package codec

import (
	"strconv"
	"strings"
	"testing"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/load"
)

// names is a dialect file with other names for members.
const names = `
name = "names"
base = "none"
[names]
request = { method = "command", params = "arguments", id = "seq" }
response = { id = "re", result = "body", error = "failed", message = "failed.text" }
event = { method = "event", params = "data" }
`

// typed is a dialect file in which a member's value distinguishes the kinds of messages.
const typed = `
name = "typed"
base = "none"
[names]
request = { method = "command", params = "arguments", id = "seq", const = { kind = "request" } }
response = { id = "re", result = "body", error = "failed", const = { kind = "answer" } }
event = { method = "event", params = "data", const = { kind = "event" } }
ok = { at = "ok", is = true }
`

// programs is a dialect file with wrapped calls, streams and progress.
const programs = `
name = "programs"
[call]
method = '"tools/call"'
params = '{name: $method, arguments: $params}'
result = 'if .structured then .structured else .content[0].text end'
error = 'if .isError then {code: 1, message: "no"} else empty end'
[during]
token = '{_meta: {token: $token}}'
progress = { method = "progress", when = ".token == $token", event = "{message, fraction: .progress}" }
[subscribe.watch]
item = { method = "changed", when = ".id == $params.id", event = ".value" }
`

func speaks(tb testing.TB, text string) *Codec {
	tb.Helper()
	p, err := load.Parse("bench.toml", []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	d, err := New(p, Native{})
	if err != nil {
		tb.Fatal(err)
	}
	return d.newCodec(dialect.CodecOptions{})
}

var padding = strings.Repeat("x", 120)

func BenchmarkDecode(b *testing.B) {
	read := func(c dialect.Codec, msg string) func(b *testing.B) {
		return func(b *testing.B) {
			raw := []byte(msg)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := c.Decode(raw); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("jsonrpc", read(jsonrpc.NewCodec(jsonrpc.Options{}), `{"jsonrpc":"2.0","id":123456,"result":{"text":"`+padding+`","n":[1,2,3]}}`))
	b.Run("names", read(speaks(b, names), `{"re":123456,"body":{"text":"`+padding+`","n":[1,2,3]},"kind":"r"}`))
	b.Run("typed", read(speaks(b, typed), `{"kind":"answer","re":123456,"ok":true,"body":{"text":"`+padding+`","n":[1,2,3]}}`))
	stream := speaks(b, programs)
	if _, err := stream.Encode(dialect.Op{Kind: dialect.Subscribe, Method: "watch", Params: []byte(`{"id":7}`)}); err != nil {
		b.Fatal(err)
	}
	b.Run("item", read(stream, `{"jsonrpc":"2.0","method":"changed","params":{"id":7,"value":{"text":"`+padding+`"}}}`))
}

func BenchmarkAppend(b *testing.B) {
	op := &dialect.Op{Kind: dialect.Call, Method: "echo", Params: []byte(`{"message":"hi"}`)}
	for name, c := range map[string]dialect.Codec{"jsonrpc": jsonrpc.NewCodec(jsonrpc.Options{}), "names": speaks(b, names)} {
		b.Run(name, func(b *testing.B) {
			calls := c.Abilities()
			var to []byte
			b.ReportAllocs()
			for b.Loop() {
				to, _, _ = calls.AppendCall(to[:0], op)
			}
		})
	}
}

// Programs write a wrapped call and read its response of 200 bytes.
func BenchmarkWrapped(b *testing.B) {
	c := speaks(b, programs)
	b.ReportAllocs()
	for b.Loop() {
		m, err := c.Encode(dialect.Op{Kind: dialect.Call, Method: "echo", Params: []byte(`{"message":"hi"}`)})
		if err != nil {
			b.Fatal(err)
		}
		id, _ := strconv.Atoi(string(m.ID))
		raw := strconv.AppendInt([]byte(`{"jsonrpc":"2.0","id":`), int64(id), 10)
		raw = append(raw, `,"result":{"content":[{"type":"text","text":"`+padding+`"}]}}`...)
		if msgs, _, err := c.Decode(raw); err != nil || string(msgs[0].Body) != `"`+padding+`"` {
			b.Fatalf("%s, %v", msgs[0].Body, err)
		}
	}
}
