package player

import (
	"testing"

	"rpcx/wire/testkit"
)

// A request for the catalog, which the recorded client had already, is rejected and is not a difference.
func TestServeOmittedCatalog(t *testing.T) {
	found := serve(t, `{"tape":1,"dialect":"introspect"}
> {"jsonrpc":"2.0","id":1,"method":"a"}`, Options{}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":7,"method":"service_schema"}`)
		p.hear(`{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"not on the tape","data":{"line":0,"differences":[]}}}`)
	})
	testkit.Expect(t, "differences", texts(found), "")
}
