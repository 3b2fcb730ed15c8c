package scomp

import (
	"encoding/json"
	"testing"

	"rpcx/wire/dialect"
)

// A function that the user has released is not released again when the connection ends.
func TestReleasedByHand(t *testing.T) {
	c := NewCodec(dialect.CodecOptions{}).(*codec)
	c.refs.hold([]byte(`[{"$fn":"f1"},{"$fn":"f2"}]`))
	if _, err := c.Encode(dialect.Op{Kind: dialect.Raw, Params: json.RawMessage(`{"jsonrpc":"2.0","method":"release_ref","params":{"ref":"f1"}}`)}); err != nil {
		t.Fatal(err)
	}
	if ids := c.refs.held(); len(ids) != 1 || ids[0] != "f2" {
		t.Errorf("released at the end: %q, want f2 alone", ids)
	}
}
