package scomp

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shown returns the decoded message as a line, with the kind and the data of its error.
func shown(m wire.Message) string {
	m.Final = false
	s := testkit.Message(m)
	if m.Err != nil && m.Err.Kind != "" {
		s += " kind=" + m.Err.Kind
	}
	if m.Err != nil && m.Err.Data != nil {
		s += " data=" + string(m.Err.Data)
	}
	return s
}

// met returns a codec whose handshake is complete.
func met(t *testing.T) *codec {
	t.Helper()
	c := NewCodec(dialect.CodecOptions{}).(*codec)
	if _, err := c.Encode(dialect.Op{Kind: dialect.Internal, Method: handshake, Params: c.handshakePart()}); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDecode(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"an invoke", `{"jsonrpc":"2.0","id":100,"method":"invoke","params":{"name":"notify","input":{"message":"hi"}}}`, `request id=100 method=notify params={"message":"hi"} body={"message":"hi"}`},
		{"its other spellings", `{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"binding":"n","args":[1]}}`, `request id=1 method=n params=[1] body=[1]`},
		{"and others", `{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"target":"n","arguments":1}}`, `request id=1 method=n params=1 body=1`},
		{"without an input", `{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"name":"n"}}`, `request id=1 method=n`},
		{"without a name", `{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"input":1}}`, `request id=1 method=invoke params=1 body=1 error=invoke needs the name of a binding, or a function reference (code -32602)`},
		{"without params", `{"jsonrpc":"2.0","id":1,"method":"invoke"}`, `request id=1 method=invoke error=invoke needs the name of a binding, or a function reference (code -32602)`},
		{"an unknown name", `{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"name":5}}`, `request id=1 method=invoke error=invoke needs the name of a binding, or a function reference (code -32602)`},
		{"an unknown function", `{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"ref":"f9","input":1}}`, `request id=1 method=ref:f9 params=1 body=1 error=unknown function reference: f9 (code -32000) data={"kind":"RefError"}`},
		{"an unknown function, as a value", `{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"function":{"$fn":"f9"}}}`, `request id=1 method=ref:f9 error=unknown function reference: f9 (code -32000) data={"kind":"RefError"}`},
		{"a handshake after ours", `{"jsonrpc":"2.0","id":1,"method":"handshake","params":{"protocol":"0.1"}}`, `request id=1 method=handshake params={"protocol":"0.1"} body={"protocol":"0.1"} error=a second handshake (code -32600) data={"kind":"HandshakeError"}`},
		{"what scomp does not have", `{"jsonrpc":"2.0","id":1,"method":"notify"}`, `request id=1 method=notify`},

		{"a value", `{"jsonrpc":"2.0","id":2,"result":{"value":142.50}}`, `response id=2 body={"value":142.50}`},
		{"an eval's error", `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"m","data":{"kind":"EvalError","stack":"s"}}}`, `response id=2 error=m (code -32000) kind=EvalError data={"kind":"EvalError","stack":"s"}`},
		{"an error beside a null", `{"jsonrpc":"2.0","id":2,"result":null,"error":{"code":1,"message":"m"}}`, `response id=2 error=m (code 1)`},
		{"an error beside a result", `{"jsonrpc":"2.0","id":2,"result":{"value":1},"error":{"code":1,"message":"m"}}`, `invalid id=2 error=a response with both a result and an error (code -32600)`},

		{"a release", `{"jsonrpc":"2.0","method":"release_ref","params":{"ref":"f1"}}`, `notification method=release_ref params={"ref":"f1"} body={"ref":"f1"}`},
		{"what JSON-RPC takes for an item", `{"jsonrpc":"2.0","method":"x","params":{"subscription":1,"done":true}}`, `notification method=x params={"subscription":1,"done":true} body={"subscription":1,"done":true}`},
		{"what JSON-RPC takes for a cancel", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`, `notification method=$/cancelRequest params={"id":1} body={"id":1}`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"eval"},{"jsonrpc":"2.0","id":2,"result":1}]`, `invalid id=null method=eval error=scomp has no batches (code -32600)`},
		{"an empty batch", `[]`, `invalid error=Invalid Request (code -32600) data="an empty batch"`},
		{"not JSON", `{"id":`, `invalid error=Parse error (code -32700) data="unexpected end of JSON at byte 6"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			msgs, batch, err := met(t).Decode([]byte(tt.in))
			if err != nil || batch || len(msgs) != 1 {
				t.Fatalf("%v, %v, %v", msgs, batch, err)
			}
			if got := shown(msgs[0]); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestEncode(t *testing.T) {
	tests := []struct {
		name string
		op   dialect.Op
		want string
	}{
		{"an eval", dialect.Op{Kind: dialect.Eval, Code: "const o = \"<ü>\";\no"}, `{"jsonrpc":"2.0","id":2,"method":"eval","params":{"code":"const o = \"<ü>\";\no"}}`},
		{"a binding", dialect.Op{Method: "getOrder", Params: json.RawMessage(`{"id":"o_001"}`)}, `{"jsonrpc":"2.0","id":2,"method":"invoke","params":{"name":"getOrder","input":{"id":"o_001"}}}`},
		{"a binding named as the protocol's words are", dialect.Op{Method: "handshake"}, `{"jsonrpc":"2.0","id":2,"method":"invoke","params":{"name":"handshake","input":{}}}`},
		{"a function", dialect.Op{Method: "ref:f\"7", Params: json.RawMessage(`5`)}, `{"jsonrpc":"2.0","id":2,"method":"invoke","params":{"ref":"f\"7","input":5}}`},
		{"functions of ours", dialect.Op{Method: "m", Params: json.RawMessage(`{"a/b":[1,null],"c":{"d":null}}`), Funcs: map[string]string{"/a~1b/1": "x", "/c/d": "y"}}, `{"jsonrpc":"2.0","id":2,"method":"invoke","params":{"name":"m","input":{"a/b":[1,{"$fn":"f1"}],"c":{"d":{"$fn":"f2"}}}}}`},
		{"a function that is all", dialect.Op{Method: "m", Params: json.RawMessage(`null`), Funcs: map[string]string{"": "x"}}, `{"jsonrpc":"2.0","id":2,"method":"invoke","params":{"name":"m","input":{"$fn":"f1"}}}`},
		{
			"a function that is described", dialect.Op{
				Method: "m", Params: json.RawMessage(`[null,null]`), Funcs: map[string]string{"/0": "x", "/1": "y"},
				Known: &catalog.Catalog{
					Methods: []catalog.Method{{Name: "x", Description: "d", Params: json.RawMessage(`{"$ref":"#/$defs/T"}`), Result: json.RawMessage(`true`), Effects: []string{"read"}}},
					Defs:    map[string]json.RawMessage{"T": json.RawMessage(`{"type":"string"}`)},
				},
			}, `{"jsonrpc":"2.0","id":2,"method":"invoke","params":{"name":"m","input":[{"$fn":"f1","description":"d","input":{"$ref":"#/$defs/T","$defs":{"T":{"type":"string"}}},"output":true},{"$fn":"f2"}]}}`,
		},
		{"a release", dialect.Op{Kind: dialect.Internal, Method: releaseWord, Params: json.RawMessage(`{"ref":"r1"}`)}, `{"jsonrpc":"2.0","method":"release_ref","params":{"ref":"r1"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := met(t).Encode(tt.op)
			if err != nil || string(m.Raw) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", m.Raw, err, tt.want)
			}
		})
	}
	for _, op := range []dialect.Op{
		{Kind: dialect.Notify, Method: "m"},
		{Kind: dialect.Subscribe, Method: "m"},
		{Kind: dialect.Cancel},
		{Method: "m", Params: json.RawMessage(`{}`), Funcs: map[string]string{"/gone": "x"}},
	} {
		if m, err := met(t).Encode(op); err == nil {
			t.Errorf("%v was written: %s", op, m.Raw)
		}
	}
}

// A hook's eval would wait for the pending one, which may be waiting for the hook. A cancelled eval continues at the peer.
func TestNestedEvals(t *testing.T) {
	c := met(t)
	nested := dialect.Op{Kind: dialect.Eval, Code: "1", Nested: true}
	first, err := c.Encode(nested)
	testkit.OK(t, err)
	var e *wire.Error
	if _, err := c.Encode(nested); err == nil {
		t.Error("a second nested eval was sent")
	} else if e = wire.AsError(err); string(e.Code) != "-32000" {
		t.Error(e)
	}
	if _, err := c.Encode(dialect.Op{Kind: dialect.Eval, Code: "1"}); err != nil {
		t.Error("an eval that is not nested is rejected:", err)
	}
	for _, id := range []string{string(first.ID), "3"} {
		if _, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{"value":1}}`)); err != nil {
			t.Fatal(err)
		}
	}
	raw := dialect.Op{Kind: dialect.Raw, Params: json.RawMessage(`{"id":"r","method":"eval","params":{"code":"1"}}`)}
	if _, err := c.Encode(raw); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Encode(nested); err == nil {
		t.Error("a nested eval was sent while a raw eval is pending")
	}
	if _, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","id":"r","result":{"value":1}}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Encode(nested); err != nil {
		t.Error("after all responses:", err)
	}
}

func TestFunctionsLiveUntilTheyAreReleased(t *testing.T) {
	c := met(t)
	if _, err := c.Encode(dialect.Op{Method: "m", Params: json.RawMessage(`[null,null,null]`), Funcs: map[string]string{"/0": "a", "/1": "b", "/2": "c"}}); err != nil {
		t.Fatal(err)
	}
	invoke := func(ref string) string {
		msgs, _, _ := c.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"ref":"` + ref + `","input":1}}`))
		if msgs[0].Err != nil {
			return "unknown"
		}
		return msgs[0].Method
	}
	release := func(params string) {
		if _, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","method":"release_ref","params":` + params + `}`)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(all ...string) {
		t.Helper()
		for i, ref := range []string{"f1", "f2", "f3"} {
			if got := invoke(ref); got != all[i] {
				t.Errorf("%s is %s, not %s", ref, got, all[i])
			}
		}
	}
	want("a", "b", "c")
	release(`{"ref":"f1"}`)
	release(`{"ref":"f1"}`)
	want("unknown", "b", "c")
	release(`{"id":"f2"}`)
	release(`{"refs":["f3","f9",null]}`)
	release(`5`)
	want("unknown", "unknown", "unknown")
}

func TestFunctionsOfThePeer(t *testing.T) {
	c := met(t)
	for _, in := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"value":[{"$fn":"b","input":{"type":"string"}},{"x":{"$function":"a"}},{"type":"function","$ref":"c"},{"$ref":"#/no"}]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"name":"n","input":{"cb":{"$fn":"d"}}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"value":{"$fn":"a"}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"value":` + strings.Repeat(`[{"x":`, 300) + `{"n":[{"$fn":5}],"type":"function","$ref":"e","also":{"$fn":"inside"}}` + strings.Repeat(`}]`, 300) + `}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"value":[{"$fn":{"$fn":null}},{"type":"function"},"{\"$fn\":\"no\"}",{"x":"$fn","y":{}},{"$fn":""}]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"value":{"$fn":"` + strings.Repeat("x", maxRemoteBytes) + `"}}}`, // over the limit
	} {
		if _, _, err := c.Decode([]byte(in)); err != nil {
			t.Fatal(err)
		}
	}
	cat, err := c.Typing(t.Context(), nil, "ref:b")
	if err != nil || cat.Method("ref:b") == nil || string(cat.Methods[0].Params) != `{"type":"string"}` {
		t.Errorf("the signature of b: %v, %v", cat, err)
	}
	if got := c.refs.held(); strings.Join(got, "") != "abcde" {
		t.Errorf("held: %v", got)
	}
	if got := c.refs.held(); got != nil {
		t.Errorf("again: %v", got)
	}
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct{ in, data, extra string }{
		{`{"jsonrpc":"2.0","id":1,"result":{"value":142.50}}`, `142.50`, ``},
		{`{"jsonrpc":"2.0","id":1,"result":{"ms":3,"value":null,"\u0061":[]}}`, `null`, `{"ms":3,"a":[]}`},
		{`{"jsonrpc":"2.0","id":1,"result":{"total":1}}`, `{"total":1}`, ``},
		{`{"jsonrpc":"2.0","id":1,"result":[1]}`, `[1]`, ``},
		{`{"jsonrpc":"2.0","id":1,"result":null}`, `null`, ``},
	} {
		c := met(t)
		msgs, _, _ := c.Decode([]byte(tt.in))
		ev, err := dialect.EventOf(c, msgs[0])
		if err != nil || string(ev.Data) != tt.data || string(ev.Extra) != tt.extra {
			t.Errorf("%s: data %s, extra %s, %v", tt.in, ev.Data, ev.Extra, err)
		}
	}
}

// Writing a catalog does not change its bindings.
func TestBindings(t *testing.T) {
	for _, tt := range []struct{ name, handshakePart, want, again string }{
		{
			"as the page has it", `{"bindings":[{"name":"a","description":"d","input":{"type":"object"},"output":{"oneOf":[{"$ref":"#/$defs/Order"}]},"effects":["read"],"hints":{"x":1},"later":true}]}`,
			`{"name":"a","description":"d","params":{"type":"object"},"result":{"oneOf":[{"$ref":"#/$defs/Order"}]},"effects":["read"],"hints":{"x":1},"extra":{"later":true}}`, ``,
		},
		{
			"definitions inside the schema", `{"bindings":[{"name":"a","input":{"$ref":"#/$defs/T","$defs":{"T":{"items":{"$ref":"#/$defs/T"}}}}},{"name":"b","output":{"$ref":"#/$defs/T","$defs":{"T":{"type":"string"}}}}]}`,
			`{"name":"a","params":{"$ref":"#/$defs/T"}},{"name":"b","result":{"$ref":"#/$defs/T-2"}}`, `{"T":{"items":{"$ref":"#/$defs/T"}},"T-2":{"type":"string"}}`,
		},
		{
			"definitions beside the schemas", `{"$defs":{"U":true},"bindings":[{"name":"a","$defs":{"T":{"$ref":"#/$defs/U"}},"input":{"$ref":"#/$defs/T/x"},"output":{"$ref":"#/$defs/T"}}]}`,
			`{"name":"a","params":{"$ref":"#/$defs/T/x"},"result":{"$ref":"#/$defs/T"}}`, `{"T":{"$ref":"#/$defs/U"},"U":true}`,
		},
		{
			"a schema that refers to itself", `{"bindings":[{"name":"a/b","input":{"properties":{"next":{"$ref":"#"},"x":{"$ref":"#/properties/next"}}}}]}`,
			`{"name":"a/b","params":{"$ref":"#/$defs/a_b.input"}}`, `{"a_b.input":{"properties":{"next":{"$ref":"#/$defs/a_b.input"},"x":{"$ref":"#/$defs/a_b.input/properties/next"}}}}`,
		},
		{
			"two that look alike", `{"bindings":[{"name":"a","input":{"$ref":"#/$defs/T","$defs":{"T":{"items":{"$ref":"#/$defs/U"}},"U":{"type":"string"}}}},{"name":"b","input":{"$ref":"#/$defs/T","$defs":{"T":{"items":{"$ref":"#/$defs/U"}},"U":{"type":"integer"}}}},{"name":"c","input":{"$ref":"#/$defs/U","$defs":{"U":{"type":"string"}}}}]}`,
			`{"name":"a","params":{"$ref":"#/$defs/T"}},{"name":"b","params":{"$ref":"#/$defs/T-2"}},{"name":"c","params":{"$ref":"#/$defs/U"}}`,
			`{"T":{"items":{"$ref":"#/$defs/U"}},"T-2":{"items":{"$ref":"#/$defs/U-2"}},"U":{"type":"string"},"U-2":{"type":"integer"}}`,
		},
		{
			"definitions that refer to their schema", `{"bindings":[{"name":"a","input":{"type":"object","$ref":"#/$defs/T","$defs":{"T":{"not":{"$ref":"#"}}}}},{"name":"b","input":{"type":"array","$ref":"#/$defs/T","$defs":{"T":{"not":{"$ref":"#"}}}}}]}`,
			`{"name":"a","params":{"$ref":"#/$defs/a.input"}},{"name":"b","params":{"$ref":"#/$defs/b.input"}}`,
			`{"T":{"not":{"$ref":"#/$defs/a.input"}},"T-2":{"not":{"$ref":"#/$defs/b.input"}},"a.input":{"type":"object","$ref":"#/$defs/T"},"b.input":{"type":"array","$ref":"#/$defs/T-2"}}`,
		},
		{
			"equal definitions of a schema that refers to itself", `{"bindings":[{"name":"a","input":{"$ref":"#/$defs/T","$defs":{"T":{"not":{"$ref":"#/$defs/T"}}}}},{"name":"b","input":{"items":{"$ref":"#"},"$ref":"#/$defs/T","$defs":{"T":{"not":{"$ref":"#/$defs/T"}}}}}]}`,
			`{"name":"a","params":{"$ref":"#/$defs/T"}},{"name":"b","params":{"$ref":"#/$defs/b.input"}}`,
			`{"T":{"not":{"$ref":"#/$defs/T"}},"b.input":{"items":{"$ref":"#/$defs/b.input"},"$ref":"#/$defs/T"}}`,
		},
		{
			"names that are escaped in a reference", `{"bindings":[{"name":"a","input":{"$ref":"#/$defs/Page%3CA~1B%3E/x","$defs":{"Page<A/B>":{"x":true}}}},{"name":"b","input":{"$ref":"#/$defs/Page%3CA~1B%3E","$defs":{"Page<A/B>":{"type":"string"}}}}]}`,
			`{"name":"a","params":{"$ref":"#/$defs/Page%3CA~1B%3E/x"}},{"name":"b","params":{"$ref":"#/$defs/Page%3CA_B%3E"}}`,
			`{"Page\u003cA/B\u003e":{"x":true},"Page\u003cA_B\u003e":{"type":"string"}}`,
		},
		{
			"a schema with an id of its own", `{"bindings":[{"name":"a","input":{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://x/a","anyOf":[{"$ref":"#/$defs/T"},{"$ref":"https://x/a#/$defs/T"},{"$ref":"https://x/b"}],"$defs":{"T":{"type":"string"}}}}]}`,
			`{"name":"a","params":{"$schema":"https://json-schema.org/draft/2020-12/schema","anyOf":[{"$ref":"#/$defs/T"},{"$ref":"#/$defs/T"},{"$ref":"https://x/b"}]}}`, `{"T":{"type":"string"}}`,
		},
		{
			"an anchor", `{"bindings":[{"name":"a","input":{"$ref":"#here","$defs":{"T":{"$anchor":"here"}}}}]}`,
			`{"name":"a","params":{"$ref":"#here","$defs":{"T":{"$anchor":"here"}}}}`, ``,
		},
		{
			"references that are none", `{"bindings":[{"name":"a","input":{"properties":{"$ref":{"type":"string"},"\"$ref\":":{"$ref" : "#/$defs/T"}},"title":"$ref","default":"#/$defs/T","x":"\"$ref\":\"#\"","$defs":{"T":true,"U":{"$ref":"#"}}}}]}`,
			`{"name":"a","params":{"properties":{"$ref":{"type":"string"},"\"$ref\":":{"$ref":"#/$defs/T"}},"title":"$ref","default":"#/$defs/T","x":"\"$ref\":\"#\""}}`, `{"T":true}`,
		},
		{"nonsense", `{"bindings":[5,{},{"name":1},{"name":"a","input":7,"effects":"x","$defs":[]}]}`, `{"name":"a","params":7,"extra":{"effects":"x"}}`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := fromHandshake(json.RawMessage(tt.handshakePart), "server")
			methods, _ := json.Marshal(c.Methods)
			defs, _ := json.Marshal(c.Defs)
			if string(methods) != "["+tt.want+"]" || c.Defs != nil && string(defs) != tt.again {
				t.Fatalf("methods %s\n  want [%s]\ndefs %s\nwant %s", methods, tt.want, defs, tt.again)
			}
			catalog.Normalize(c)
			var back json.RawMessage = append(append([]byte(`{"bindings":`), bindings(c)...), '}')
			if got := fromHandshake(back, "server"); len(got.Methods) != len(c.Methods) || len(got.Defs) != len(c.Defs) {
				t.Errorf("%s was read as\n%v", back, got)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1.0,"method":"invoke","params":{"name":"m","input":{"$fn":1}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"invoke","params":{"ref":{"$ref":"x","type":"function"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"handshake","params":{"protocol":"0.1","bindings":[{"name":"a","input":{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#"}}}}]}}`,
		`{"jsonrpc":"2.0","method":"release_ref","params":{"refs":["f1"]}}`,
		`{"id":1,"result":{"sessionId":"s","protocol":"0.1","value":{"$fn":"a"},"bindings":[{"name":"b","output":{"$ref":"#/x"}}],"metadata":{"server":{"name":1}}}}`,
		`{"id":1,"error":{"data":{"kind":5}},"result":1}`, `[{}]`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, back := NewCodec(dialect.CodecOptions{}).(*codec), met(t)
		c.Encode(dialect.Op{Method: "m", Params: json.RawMessage("[null]"), Funcs: map[string]string{"/0": "h"}})
		msgs, batch, err := c.Decode(raw)
		if err != nil || batch {
			t.Fatal(batch, err)
		}
		for _, m := range msgs {
			m := m.Clone()
			ev, err := dialect.EventOf(c, m)
			testkit.OK(t, err)
			if m.Kind == wire.Response && m.Err == nil && (!json.Valid(ev.Data) || ev.Extra != nil && !json.Valid(ev.Extra)) {
				t.Fatalf("%s is printed as %s, %s", raw, ev.Data, ev.Extra)
			}
			c.refs.held()
			cat := fromHandshake(m.Body, "server")
			catalog.Normalize(cat)
			if b := bindings(cat); !json.Valid(b) {
				t.Fatalf("%s was written as %s", raw, b)
			}
			if m.Kind != wire.Request {
				continue
			}
			replies, err := c.Reply(m, wire.Event{Data: []byte("1")})
			if err != nil || len(replies) != 1 {
				t.Fatal(replies, err)
			}
			answers, _, _ := back.Decode(replies[0])
			if len(answers) != 1 || answers[0].Kind != wire.Response || string(answers[0].ID) != string(m.ID) {
				t.Fatalf("%s: got the response %s", m.Raw, replies[0])
			}
		}
	})
}
