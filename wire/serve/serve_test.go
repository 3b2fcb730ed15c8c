package serve

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A caller has the results of calls by method.
type caller map[string]string

func (c caller) Call(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if answer, ok := c[method]; ok {
		return json.RawMessage(strings.ReplaceAll(answer, "PARAMS", string(params))), nil
	}
	return nil, wire.NewError(wire.CodeNoMethod, "method not found")
}

func (caller) Open(context.Context, dialect.Op) (dialect.Stream, error) {
	return nil, wire.ErrUnsupported
}
func (caller) Notify(context.Context, dialect.Op) error { return nil }
func (caller) CloseWith(int, string) error              { return nil }
func (caller) Connection() *dialect.Connection          { return &dialect.Connection{} }
func (c caller) CallOp(ctx context.Context, op dialect.Op) (json.RawMessage, error) {
	return c.Call(ctx, op.Method, op.Params)
}

// bind returns a responder with hooks and a catalog.
func bind(t *testing.T, o Options, c dialect.Caller, specs ...string) dialect.Responder {
	t.Helper()
	var entries []hook.Entry
	for _, spec := range specs {
		e, err := hook.Parse(spec)
		testkit.OK(t, err)
		entries = append(entries, e)
	}
	table, err := hook.NewTable(hook.Options{Warn: o.Warn}, entries...)
	testkit.OK(t, err)
	o.Hooks = table
	r := New(o).Bind(c)
	t.Cleanup(func() {
		testkit.OK(t, r.Close())
	})
	return r
}

// answer returns the result or the error that the peer gets.
func answer(t *testing.T, r dialect.Responder, method, params string) string {
	t.Helper()
	req := dialect.Request{Method: method, ID: wire.ID("1")}
	if params != "" {
		req.Params = json.RawMessage(params)
	}
	result, err := r.Respond(t.Context(), req)
	if err != nil {
		return string(wire.AsError(err).JSON())
	}
	return string(result)
}

func TestPolicy(t *testing.T) {
	for _, c := range []struct {
		allow, deny []string
		method      string
		refused     bool
	}{
		{nil, nil, "getOrder", false},
		{nil, []string{"get*"}, "getOrder", true},
		{nil, []string{"get*"}, "forget", false},
		{[]string{"get*"}, nil, "getOrder", false},
		{[]string{"get*"}, nil, "setOrder", true},
		{[]string{"*"}, []string{"*Order"}, "getOrder", true},
		{[]string{"*"}, []string{"*Order"}, "getOrders", false},
		{[]string{"a*b*c"}, nil, "axxbyyc", false},
		{[]string{"a*b*c"}, nil, "axxbyy", true},
		{[]string{"a*b*c"}, nil, "abc", false},
		{[]string{"a*ab"}, nil, "aab", false},
		{[]string{"ab*b"}, nil, "ab", true},
		{[]string{"get.der"}, nil, "getXder", true},
		{[]string{"getOrder"}, nil, "getOrder", false},
		{[]string{"a*", "c"}, nil, "c", false},
		{[]string{"*"}, []string{"a", "b"}, "b", true},
	} {
		r := bind(t, Options{Allow: c.allow, Deny: c.deny}, caller{}, "*=json:1")
		if _, ok := r.Kind(c.method); !ok {
			t.Errorf("%v: %s has no kind", c, c.method)
		}
		want := "1"
		if c.refused {
			want = `{"code":-32001,"message":"refused by policy","data":{"method":"` + c.method + `"}}`
		}
		if got := answer(t, r, c.method, ""); got != want || r.Allows(c.method) == c.refused {
			t.Errorf("%v: got %s", c, got)
		}
	}
}

func TestDeniedMethodsWithoutHooksAreForTheDialect(t *testing.T) {
	r := bind(t, Options{Allow: []string{"watch"}, Deny: []string{"rpc.*"}}, caller{}, "watch=json:1", "secret=json:2")
	for name, want := range map[string]bool{"watch": true, "secret": true, "watch_unsubscribe": false, "rpc.discover": true, "rpc.other": true} {
		if _, ok := r.Kind(name); ok != want {
			t.Errorf("%s has a kind: %v", name, ok)
		}
	}
}

func TestKinds(t *testing.T) {
	c := testkit.Catalog(t, `{"catalog":1,"methods":[{"name":"s","kind":"stream"},{"name":"c"},{"name":"silent"},{"name":"n","kind":"notify"}]}`)
	r := bind(t, Options{Catalog: c}, caller{}, "s=json:1", "c=json:1", "n=json:1", "l=lines:true", "p*=json:1")
	for name, want := range map[string]catalog.Kind{"s": catalog.Stream, "c": catalog.Call, "n": catalog.Notify, "l": catalog.Stream, "px": catalog.Call} {
		if got, ok := r.Kind(name); !ok || got != want {
			t.Errorf("%s: got %s, %v", name, got, ok)
		}
	}
	for _, name := range []string{"silent", "other"} {
		if _, ok := r.Kind(name); ok {
			t.Errorf("%s has a hook", name)
		}
		testkit.Expect(t, name, answer(t, r, name, ""), `{"code":-32601,"message":"method not found"}`)
	}
}

const checked = `{"catalog":1,"methods":[
	{"name":"add","params":{"type":"object","properties":{"b":{"type":"integer"},"a":{"$ref":"#/$defs/n"}},"required":["a","b"],"additionalProperties":false},"result":{"type":"integer","maximum":9}},
	{"name":"free","params":{"type":"object","properties":{"x":{}}}},
	{"name":"odd","params":{"type":"strin"}},
	{"name":"ticks","kind":"stream","result":{"type":"integer"},"events":{"t":{"type":"string"}}}],
	"$defs":{"n":{"type":"integer"}}}`

func TestParamsAndResultsAreChecked(t *testing.T) {
	var mu sync.Mutex
	var warnings []string
	warn := func(line string) { mu.Lock(); warnings = append(warnings, line); mu.Unlock() }
	o := Options{Catalog: testkit.Catalog(t, checked), Check: true, Warn: warn}
	r := bind(t, o, caller{}, "add=jq:.a+.b", "free=jq:.", "odd=jq:.", "other=jq:.")
	for _, c := range []struct{ method, params, want string }{
		{"add", `{"a":1,"b":2}`, `3`},
		{"add", `[2,1]`, `3`},
		{"add", `{"a":1,"b":"2"}`, `{"code":-32602,"message":"invalid params: /b: got string, want integer","data":{"pointer":"/b","rule":"type"}}`},
		{"add", `{"a":1,"bb":2}`, `{"code":-32602,"message":"invalid params: has no property \"bb\"; did you mean b?","data":{"pointer":"","rule":"additionalProperties"}}`},
		{"add", ``, `{"code":-32602,"message":"invalid params: lacks \"a\", \"b\"","data":{"pointer":"","rule":"required"}}`},
		{"add", `[1]`, `{"code":-32602,"message":"invalid params: lacks \"a\"","data":{"pointer":"","rule":"required"}}`},
		{"add", `[1,2,3]`, `{"code":-32602,"message":"invalid params: got array, want object","data":{"pointer":"","rule":"type"}}`},
		{"add", `{"a":5,"b":5}`, `{"code":-32603,"message":"the result does not match the catalog"}`},
		{"free", `{"x":12345678901234567890,"y":1.10}`, `{"x":12345678901234567890,"y":1.10}`},
		{"odd", `{"a":1}`, `{"a":1}`},
		{"odd", `{"a":1}`, `{"a":1}`},
		{"other", `[1]`, `[1]`},
	} {
		testkit.Expect(t, c.method+" "+c.params, answer(t, r, c.method, c.params), c.want)
	}
	want := []string{
		"hook add: the result does not match the catalog: 10 is greater than 9",
		"catalog: params of odd: the schema is not usable: at /type",
	}
	if len(warnings) != len(want) || warnings[0] != want[0] || !strings.HasPrefix(warnings[1], want[1]) {
		t.Errorf("warnings: %q", warnings)
	}
}

// Calls are checked against the peer's schemas. A warning about a schema of the peer names the peer.
func TestSchemasOfThePeer(t *testing.T) {
	var warnings []string
	c := &checkedCaller{
		Caller: caller{"odd": "1", "add": "12"}, declaredBy: func(string) *catalog.Catalog { return testkit.Catalog(t, checked) },
		warn: func(line string) { warnings = append(warnings, line) },
	}
	if got, err := c.Call(t.Context(), "odd", nil); string(got) != "1" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	for params, want := range map[string]string{
		`{"a":1}`: `invalid params: lacks "b"`, `{"a":1,"b":2}`: "the result of add does not match the peer's schema: 12 is greater than 9",
	} {
		if got, err := c.Call(t.Context(), "add", json.RawMessage(params)); got != nil || err == nil || wire.AsError(err).Message != want {
			t.Errorf("%s: %s, %v", params, got, err)
		}
	}
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "the peer's catalog: params of odd: the schema is not usable") {
		t.Errorf("%q", warnings)
	}
}

func TestWithoutCheckNamesAreStillGiven(t *testing.T) {
	r := bind(t, Options{Catalog: testkit.Catalog(t, checked)}, caller{}, "add=jq:.a+.b")
	for params, want := range map[string]string{`[2,1]`: `3`, `{"a":"x","b":"y"}`: `"xy"`, `{"a":5,"b":5}`: `10`} {
		testkit.Expect(t, params, answer(t, r, "add", params), want)
	}
}

func TestEventsAreChecked(t *testing.T) {
	o := Options{Catalog: testkit.Catalog(t, checked), Check: true}
	for _, c := range []struct{ run, want, failure string }{
		{`ticks=jq:1, 2`, `1 2`, ``},
		{`ticks=jq:1, "x", 2`, `1`, `an event does not match the catalog`},
		{`ticks=lines:printf '%s\n' '{"data":"x","content_type":"t"}' '{"data":true,"content_type":"u"}' '{"log":"hi"}'`, `"x" true`, ``},
		{`ticks=lines:printf '%s\n' '{"data":1,"content_type":"t"}'`, ``, `an event does not match the catalog`},
	} {
		r := bind(t, o, caller{}, c.run)
		var got []string
		_, err := r.Respond(t.Context(), dialect.Request{Method: "ticks", ID: wire.ID("1"), Stream: true, Emit: func(ev wire.Event) error {
			if ev.Kind == wire.Data {
				got = append(got, string(ev.Data))
			}
			return nil
		}})
		if strings.Join(got, " ") != c.want || (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
			t.Errorf("%s: got %q, %v", c.run, got, err)
		}
	}
}

func TestCatalogOmitsLocalMembers(t *testing.T) {
	c := testkit.Catalog(t, `{"catalog":1,"methods":[{"name":"a","run":"json:1"},{"name":"b","run":"json:2"}]}`)
	b := New(Options{Catalog: c, Discoverable: true, Deny: []string{"b"}})
	got, err := b.Catalog().Marshal()
	if want := `{"catalog":1,"info":{},"methods":[{"name":"a"}]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if c.Methods[0].Run == "" || len(c.Methods) != 2 {
		t.Error("the given catalog was changed")
	}
	if New(Options{Catalog: c}).Catalog() != nil {
		t.Error("Catalog returned a catalog that is not to be offered")
	}
}

func TestCallsOfAHookUseItsConnection(t *testing.T) {
	var got dialect.Caller
	far := caller{}
	o := Options{CallbackEndpoint: func(c dialect.Caller, hooks dialect.Commands) (string, error) {
		got = c
		hooks.Suspend("none")()
		return "conversation:/x", nil
	}}
	r := bind(t, o, far, `where=text:printf %s "${RPCX_ENDPOINT%%#*}"`)
	if a := answer(t, r, "where", ""); a != `"conversation:/x"` || got == nil {
		t.Errorf("got %s", a)
	}
}

// demo returns the responder of demo:orders.
func demo(t *testing.T, c dialect.Caller) dialect.Responder {
	t.Helper()
	cat := Demo("orders")
	if cat == nil {
		t.Fatal("demo:orders is missing")
	}
	entries, err := hook.FromCatalog(cat)
	testkit.OK(t, err)
	table, err := hook.NewTable(hook.Options{Warn: func(w string) { t.Errorf("warning: %s", w) }}, entries...)
	testkit.OK(t, err)
	o := Options{Catalog: cat, Hooks: table, Check: true, Discoverable: true, Warn: func(w string) { t.Errorf("warning: %s", w) }}
	r := New(o).Bind(c)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestDemoOrders(t *testing.T) {
	r := demo(t, caller{"approve": `true`})
	for _, c := range []struct{ method, params, want string }{
		{"getOrder", `{"id":"o_001"}`, `{"customer":"Ada Lovelace","id":"o_001","items":[{"price":450,"qty":2,"sku":"tea"}],"status":"shipped","total":900}`},
		{"getOrder", `{"id":"o_999"}`, `{"code":404,"message":"no such order: o_999"}`},
		{"getOrder", `{"id":"x"}`, `{"code":-32602,"message":"invalid params: /id: \"x\" does not match the pattern ^o_[0-9]{3}$","data":{"pointer":"/id","rule":"pattern"}}`},
		{"getOrder", `["o_001"]`, `{"customer":"Ada Lovelace","id":"o_001","items":[{"price":450,"qty":2,"sku":"tea"}],"status":"shipped","total":900}`},
		{"listOrders", ``, `[{"id":"o_001","status":"shipped","total":900},{"id":"o_002","status":"open","total":1740},{"id":"o_003","status":"cancelled","total":6900}]`},
		{"listOrders", `{"status":"open"}`, `[{"id":"o_002","status":"open","total":1740}]`},
		{"listOrders", `{"limit":1}`, `[{"id":"o_001","status":"shipped","total":900}]`},
		{
			"createOrder", `{"customer":"Mary","items":[{"sku":"tea","qty":12345678901234567890},{"sku":"mug","qty":1}],"note":"soon","express":true}`,
			`{"customer":"Mary","id":"o_004","items":[{"price":450,"qty":12345678901234567890,"sku":"tea"},{"price":1290,"qty":1,"sku":"mug"}],"note":"soon","status":"open","total":5555555505555555552780}`,
		},
		{
			"createOrder", `{"customer":"Mary","items":[{"sku":"cup","qty":1}]}`,
			`{"code":-32602,"message":"invalid params: /items/0/sku: \"cup\" is not one of \"tea\", \"mug\", \"pot\"","data":{"pointer":"/items/0/sku","rule":"enum"}}`,
		},
		{"cancelOrder", `{"id":"o_002"}`, `{"id":"o_002","status":"cancelled"}`},
		{"cancelOrder", `{"id":"o_001"}`, `{"code":409,"message":"o_001 is already shipped"}`},
		{"cancelOrder", `{"id":"o_999"}`, `{"code":404,"message":"no such order: o_999"}`},
		{"approveOrder", `{"id":"o_002"}`, `{"approved":true,"id":"o_002"}`},
		{"slowReport", `{"seconds":0}`, `{"orders":3,"revenue":2640,"seconds":0}`},
	} {
		testkit.Expect(t, c.method+" "+c.params, answer(t, r, c.method, c.params), c.want)
	}
	for answers, want := range map[string]string{
		``:       `{"code":424,"message":"nobody approved o_002: method not found"}`,
		`PARAMS`: `{"code":424,"message":"approve must answer true or false"}`,
		`false`:  `{"approved":false,"id":"o_002"}`,
	} {
		far := caller{"approve": answers}
		if answers == "" {
			far = caller{}
		}
		testkit.Expect(t, "approve with the answer "+answers, answer(t, demo(t, far), "approveOrder", `{"id":"o_002"}`), want)
	}
}

func TestDemoExamplesWork(t *testing.T) {
	r := demo(t, caller{"approve": `false`})
	cat := Demo("orders")
	var tried []string
	for _, m := range cat.Methods {
		if m.Kind == catalog.Stream || m.Name == "slowReport" {
			continue
		}
		params := string(catalog.ExampleValue(m.Params, must(cat.Marshal())))
		if got := answer(t, r, m.Name, params); strings.Contains(got, `"code":-32`) {
			t.Errorf("%s %s: %s", m.Name, params, got)
		}
		tried = append(tried, m.Name)
	}
	if !slices.Contains(tried, "createOrder") {
		t.Errorf("tried only %v", tried)
	}
}

func must(b json.RawMessage, _ error) json.RawMessage { return b }

func TestDemoStreamIsPacedAndEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := demo(t, caller{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		var got []string
		_, err := r.Respond(ctx, dialect.Request{Method: "watchOrders", ID: wire.ID("1"), Stream: true, Emit: func(ev wire.Event) error {
			if got = append(got, string(ev.Data)); len(got) == 5 {
				cancel()
			}
			return nil
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
		want := []string{
			`{"id":"o_001","n":1,"status":"paid"}`, `{"id":"o_002","n":2,"status":"paid"}`, `{"id":"o_003","n":3,"status":"paid"}`,
			`{"id":"o_001","n":4,"status":"packed"}`, `{"id":"o_002","n":5,"status":"packed"}`,
		}
		if !slices.Equal(got, want) || time.Since(start) != 4*time.Second {
			t.Errorf("after %v: %q", time.Since(start), got)
		}
		if got := answer(t, r, "slowReport", ""); got != `{"orders":3,"revenue":2640,"seconds":2}` || time.Since(start) != 6*time.Second {
			t.Errorf("after %v: %s", time.Since(start), got)
		}
		_ = r.Close()
	})
}
