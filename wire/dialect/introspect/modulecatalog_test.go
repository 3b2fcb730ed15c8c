package introspect

import (
	"encoding/json"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

func offered(t *testing.T, text string) *moduleCatalog {
	t.Helper()
	return newModuleCatalog(testkit.Catalog(t, text))
}

func TestOffer(t *testing.T) {
	o := offered(t, `{"catalog":1,"info":{"version":"2.0.0","description":"all"},"extra":{"modules":[{"namespace":"b","version":"3.0.0","description":"the second"}]},"methods":[
		{"name":"a_one"},{"name":"b_two_three"},{"name":"a_four"},{"name":"noModule"},{"name":"Upper_case"}]}`)
	want := `{"modules":[{"namespace":"a","version":"2.0.0","description":"all","methods":["one","four"]},` +
		`{"namespace":"b","version":"3.0.0","description":"the second","methods":["two_three"]},{"namespace":"Upper","version":"2.0.0","description":"all","methods":["case"]}],"total_methods":4}`
	if got := string(o.list()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if newModuleCatalog(nil).list() == nil {
		t.Error("the list of an empty catalog is nil")
	}
}

func TestVariants(t *testing.T) {
	for params, want := range map[string]string{
		``:                  `{"required":["method"],"type":"object","properties":{"method":{"const":"m"}}}`,
		`{"type":"object"}`: `{"required":["method"],"properties":{"method":{"const":"m"}},"type":"object"}`,
		`{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`: `{"type":"object","properties":{"method":{"const":"m"},"a":{}},"required":["method","a"],"additionalProperties":false}`,
		`{"type":"object","properties":{"method":{}}}`:                                          `{"type":"object","properties":{"method":{"const":"m"},"params":{"type":"object","properties":{"method":{}}}},"required":["method","params"]}`,
		`{"$ref":"#/$defs/P"}`: `{"type":"object","properties":{"method":{"const":"m"},"params":{"$ref":"#/$defs/P"}},"required":["method","params"]}`,
		`true`:                 `{"type":"object","properties":{"method":{"const":"m"},"params":true},"required":["method","params"]}`,
	} {
		got := variant("m", &catalog.Method{Params: json.RawMessage(params)})
		if params == "" {
			got = variant("m", &catalog.Method{})
		}
		var a, b any
		if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
			t.Fatalf("%s", got)
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Errorf("%s\ngot  %s\nwant %s", params, got, want)
		}
	}
}

// A module's definitions are those that it refers to, directly or indirectly, even in circles.
func TestDefinitions(t *testing.T) {
	o := offered(t, `{"catalog":1,"methods":[{"name":"a_b","params":{"type":"object","properties":{"x":{"$ref":"#/$defs/Tree"}}}}],
		"$defs":{"Tree":{"items":{"$ref":"#/$defs/Leaf/properties/x"}},"Leaf":{"properties":{"x":{"$ref":"#/$defs/Tree"}}},"Tre":{},"TreeId":{}}}`)
	var got struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(o.module("a").schema(), &got); err != nil || len(got.Defs) != 2 || got.Defs["Tree"] == nil || got.Defs["Leaf"] == nil {
		t.Errorf("%s, %v", o.module("a").schema(), err)
	}
}

// A module has its own version, the common version, or none.
func TestVersionOfAModule(t *testing.T) {
	for doc, want := range map[string]string{
		`{"catalog":1,"methods":[]}`:                            "0.0.0",
		`{"catalog":1,"methods":[],"info":{"version":"2.0.0"}}`: "2.0.0",
		`{"catalog":1,"methods":[],"info":{"version":"2.0.0"},"extra":{"modules":[{"namespace":"b","version":"9.0.0"},{"namespace":"a","version":"3.0.0"}]}}`: "3.0.0",
		`{"catalog":1,"methods":[],"extra":{"modules":[{"namespace":"a","version":""}]}}`:                                                                     "0.0.0",
		`{"catalog":1,"methods":[],"extra":{"modules":[{"namespace":"a","version":7}]}}`:                                                                      "0.0.0",
	} {
		if got := offered(t, doc).newModule("a").Version; got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
}

// The stream ends when done arrives, before it is printed, so a later unsubscribe has no effect.
func TestDoneIsTheEnd(t *testing.T) {
	var out *streamWriter
	said := 0
	emit := func(ev wire.Event) error {
		said++
		if out.end() || string(scan.Get(ev.Data, "type")) != `"done"` {
			t.Errorf("%s does not end the stream", ev.Data)
		}
		return nil
	}
	out = newStreamWriter(newModuleCatalog(&catalog.Catalog{}), "storage_quick", emit, func() {})
	for range 2 {
		if err := out.done(); err != nil {
			t.Error(err)
		}
	}
	if said != 1 {
		t.Errorf("done was sent %d times", said)
	}
}
