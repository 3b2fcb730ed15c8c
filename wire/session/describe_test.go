package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"rpcx/wire/catalog"
	"rpcx/wire/schema"
	"rpcx/wire/testkit"
)

// The description of any peer becomes a catalog that Parse accepts and that matches the JSON Schema. Serving and describing it
// again does not change it.
func TestDescribedCatalogsCanBeServed(t *testing.T) {
	text, err := os.ReadFile("../catalog/catalog.schema.json")
	testkit.OK(t, err)
	rules, err := schema.Compile(text, "", schema.Options{})
	testkit.OK(t, err)
	for name, doc := range map[string]string{
		"demo": "null",
		"every member of OpenRPC": `{"openrpc":"1.3.2","info":{"title":"t","version":"1","license":{"name":"MIT"}},"servers":[{"url":"http://x"}],
			"methods":[{"name":"a.b","summary":"s","description":"d","tags":[{"name":"t"}],"paramStructure":"by-position",
			"params":[{"name":"x","required":true,"schema":{"$ref":"#/components/schemas/X"}},{"$ref":"#/components/contentDescriptors/Y"}],
			"result":{"name":"r","schema":{"type":"string"}},"errors":[{"code":1,"message":"m"}],"deprecated":true},{"name":"n","params":[]}],
			"components":{"schemas":{"X":{"type":"integer"}},"contentDescriptors":{"Y":{"name":"y","schema":{"type":"array"}}}}}`,
		"duplicate and invalid methods": `{"openrpc":"1.3.2","info":{},"methods":[{"name":"ok","params":[],"result":{"name":"r","schema":{}}},{"name":"ok"},{"name":""},7]}`,
		"invalid members": `{"openrpc":7,"info":7,"x-rpcx-classes":[7,{"a":1}],"x-rpcx-constants":[1],"components":{"schemas":{"S":7,"T":true}},
			"x-rpcx-extra":{"e":1},"methods":[{"name":"m","x-rpcx-kind":"sometimes","x-rpcx-params":"text","result":{"schema":[1]},
			"x-rpcx-hints":7,"x-rpcx-cache":{"max-age":"1"},"x-rpcx-events":{"a":1,"b":{}},"x-rpcx-effects":[1],"x-rpcx-extra":[1],"params":{"a":1}},
			{"name":"n","x-rpcx-cache":null,"params":[{"name":7,"schema":"x"},null,{"required":true}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "", "rpc.discover=json:"+doc)
			at := w.at
			if name == "demo" {
				at = "demo:orders"
			}
			first := described(t, rules, w.open(at))
			var served *catalog.Catalog
			for range 2 {
				o := w.options(nil)
				o.Catalog = first
				s, err := Listen(t.Context(), w.endpoint("unix:"+filepath.Join(w.dir, "again")), o)
				testkit.OK(t, err)
				done := make(chan error, 1)
				go func() { done <- s.Serve() }()
				served = described(t, rules, w.open("unix:"+filepath.Join(w.dir, "again")))
				s.Close()
				<-done
				first, served = served, first
			}
			a, _ := json.Marshal(first)
			b, _ := json.Marshal(served)
			testkit.Expect(t, "the served catalog", string(b), string(a))
		})
	}
}

func described(t *testing.T, rules *schema.Schema, c Conversation) *catalog.Catalog {
	t.Helper()
	got, err := c.Describe(t.Context())
	testkit.OK(t, err)
	b, err := got.Marshal()
	testkit.OK(t, err)
	if err := rules.Check(t.Context(), b); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	again, err := catalog.Parse(b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return again
}
