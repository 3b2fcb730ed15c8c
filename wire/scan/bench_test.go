package scan

import (
	"encoding/json"
	"strings"
	"testing"
)

// message is a notification of an Ethereum node, 240 bytes.
const message = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x9cef478923ff08bf67fde6c64013158d",` +
	`"result":{"number":"0x1b4","hash":"0x8216c5785ac562ff41e2dcfdf5785ac562ff41e2dcfdf829c5a142f1fccd7d","gas":42,"ok":true,"t":1}}}`

func BenchmarkMembers240(b *testing.B) {
	msg := []byte(message)
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := walk(msg); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMembersTwice240 also iterates over the members of params, as Decode does for a subscription.
func BenchmarkMembersTwice240(b *testing.B) {
	msg := []byte(message)
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		params, _ := walk(msg)
		if Get(params, "result") == nil {
			b.Fatal("no result")
		}
	}
}

func BenchmarkJSONValid240(b *testing.B) {
	msg := []byte(message)
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		json.Valid(msg)
	}
}

func BenchmarkDecoder240(b *testing.B) {
	msg := []byte(message)
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	d := Decoder{Depth: 100}
	for b.Loop() {
		d.Reset()
		if _, done, _ := d.Next(msg); !done {
			b.Fatal("not done")
		}
	}
}

func BenchmarkLongString(b *testing.B) {
	msg := []byte(`"` + strings.Repeat("0123456789abcdef", 1<<16) + `"`)
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		if Valid(msg, 1) != nil {
			b.Fatal("not valid")
		}
	}
}
