package finding

import "testing"

// rpcx detects servers of this dialect in each framing.
func TestROIsRecognised(t *testing.T) {
	for _, framing := range []string{"line", "header", "nul", "netstring", "varint", "seq", "concat"} {
		recognisedIn(t, "ro", framing)
	}
	recognisedOnce(t, steps(true, ""), "ro", `{"jsonrpc":"2.0","id":ID,"result":{"ro-jrpc":"1.0","resources":{}}}`, "ro")
}
