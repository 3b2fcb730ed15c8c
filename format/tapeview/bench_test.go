package tapeview

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"rpcx/wire/tape"
	"rpcx/wire/testkit"
)

// BenchmarkShow measures the text output of a message.
func BenchmarkShow(b *testing.B) {
	var text strings.Builder
	text.WriteString("{\"tape\":1}\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, `{"t":%d.5,"dir":"send","msg":{"jsonrpc":"2.0","id":%d,"method":"getOrder","params":{"id":"o_%d"}}}`+"\n", i, i, i)
		fmt.Fprintf(&text, `{"t":%d.6,"dir":"recv","msg":{"jsonrpc":"2.0","id":%d,"result":{"id":"o_%d","total":9.10}}}`+"\n", i, i, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := tape.NewReader(strings.NewReader(text.String()), "a.tape")
		testkit.OK(b, err)
		testkit.OK(b, Show(context.Background(), io.Discard, r, ShowOptions{}))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/message")
}
