package session

import (
	"testing"

	"rpcx/wire/dialect"
)

// Subscribing to a target sends nothing and yields the messages for the target.
func TestTargetFromTheBeginning(t *testing.T) {
	seesTheFirst(t, "ro", dialect.Op{Kind: dialect.Subscribe, Method: "session/9"},
		`{"jsonrpc":"2.0","method":"session.yield","resource":"session","verb":"yield","target":"9","result":1}`)
}
