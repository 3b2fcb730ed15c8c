package session

import (
	"testing"

	"rpcx/wire/dialect"
)

// A subscription to a target sends nothing, and watches the messages of the target.
func TestTargetFromTheBeginning(t *testing.T) {
	seesTheFirst(t, "ro", dialect.Op{Kind: dialect.Subscribe, Method: "session/9"},
		`{"jsonrpc":"2.0","method":"session.yield","resource":"session","verb":"yield","target":"9","result":1}`)
}
