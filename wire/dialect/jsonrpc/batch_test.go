package jsonrpc

import (
	"strings"
	"testing"

	"rpcx/wire"
)

// A batch has 65,536 messages at most; a larger one is refused as one message.
func TestBatchIsBounded(t *testing.T) {
	batch := func(n int) []byte { return []byte("[" + strings.Repeat("1,", n-1) + "1]") }
	c := NewCodec(Options{})
	msgs, _, err := c.Decode(batch(maxBatch))
	if err != nil || len(msgs) != 1<<16 {
		t.Fatal(len(msgs), err)
	}
	msgs, _, err = c.Decode(batch(maxBatch + 1))
	if err != nil || len(msgs) != 1 || msgs[0].Kind != wire.Invalid {
		t.Fatal(len(msgs), err)
	}
}
