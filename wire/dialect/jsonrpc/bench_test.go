package jsonrpc

import (
	"strings"
	"testing"
)

var item240 = []byte(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0xcd0c3e8af590364c09d0fa6a1210faf5","result":{"number":"0x1b4","hash":"` + strings.Repeat("8f", 32) + `","size":"0x220","gasUsed":"0x5208","ok":true}}}`)

func BenchmarkDecode(b *testing.B) {
	c := NewCodec(Options{})
	b.SetBytes(int64(len(item240)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := c.Decode(item240); err != nil {
			b.Fatal(err)
		}
	}
}
