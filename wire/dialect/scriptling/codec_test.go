package scriptling

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		op   dialect.Op
		want string
	}{
		// This is the specification's example.
		{
			dialect.Op{Method: "greet", Params: raw(`["Ada"]`)},
			`{"jsonrpc":"2.0","id":1,"method":"function.call","params":{"name":"greet","args":[{"type":"string","value":"Ada"}]}}`,
		},
		{dialect.Op{Method: "greet"}, `{"jsonrpc":"2.0","id":1,"method":"function.call","params":{"name":"greet"}}`},
		{
			dialect.Op{Method: "greet", Params: raw(`{"n":1}`)},
			`{"jsonrpc":"2.0","id":1,"method":"function.call","params":{"name":"greet","kwargs":{"n":{"type":"int","value":1}}}}`,
		},
		{
			dialect.Op{Kind: dialect.Notify, Method: "greet"},
			`{"jsonrpc":"2.0","method":"function.call","params":{"name":"greet"}}`,
		},
		{
			dialect.Op{Method: "object.call_method", Params: raw(`{"object_id":"1","method":"set","args":[1.0],"kwargs":{"k":null}}`)},
			`{"jsonrpc":"2.0","id":1,"method":"object.call_method","params":{"object_id":"1","method":"set","args":[{"type":"float","value":1.0}],"kwargs":{"k":{"type":"null"}}}}`,
		},
		{
			dialect.Op{Method: "callback.call", Params: raw(`{"id":"cb-1","args":["x"]}`)},
			`{"jsonrpc":"2.0","id":1,"method":"callback.call","params":{"id":"cb-1","args":[{"type":"string","value":"x"}]}}`,
		},
		{dialect.Op{Method: "plugin.shutdown"}, `{"jsonrpc":"2.0","id":1,"method":"plugin.shutdown"}`},
		{
			dialect.Op{Method: "f", Params: raw(`[null,{"g":[null]}]`), Funcs: map[string]string{"/0": "a", "/1/g/0": "b"}},
			`{"jsonrpc":"2.0","id":1,"method":"function.call","params":{"name":"f","args":[{"type":"callback","callback":{"id":"cb-1"}},` +
				`{"type":"dict","entries":{"g":{"type":"list","items":[{"type":"callback","callback":{"id":"cb-2"}}]}}}]}}`,
		},
		{
			dialect.Op{Method: "f", Params: raw(`[{"type":"int","value":1},null]`), Extra: raw(`{"values":true}`), Funcs: map[string]string{"/1": "a"}},
			`{"jsonrpc":"2.0","id":1,"method":"function.call","params":{"name":"f","args":[{"type":"int","value":1},{"type":"callback","callback":{"id":"cb-1"}}]}}`,
		},
	} {
		m, err := NewCodec(dialect.CodecOptions{}).Encode(c.op)
		if err != nil || string(m.Raw) != c.want {
			t.Errorf("%s %s:\n got %s, %v\nwant %s", c.op.Method, c.op.Params, m.Raw, err, c.want)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		o  dialect.CodecOptions
		op dialect.Op
	}{
		"callbacks need a bidirectional transport": {dialect.CodecOptions{OneWay: true}, dialect.Op{Method: "f", Params: raw(`[null]`), Funcs: map[string]string{"/0": "a"}}},
		"a callback can only be an argume":         {dialect.CodecOptions{}, dialect.Op{Method: "object.destroy", Params: raw(`{"a":null}`), Funcs: map[string]string{"/a": "a"}}},
		"notifications cannot have one":            {dialect.CodecOptions{}, dialect.Op{Kind: dialect.Notify, Method: "f", Params: raw(`[null]`), Funcs: map[string]string{"/0": "a"}}},
		"not part of this dialect":                 {dialect.CodecOptions{}, dialect.Op{Kind: dialect.Subscribe, Method: "f"}},
		"is not a dict":                            {dialect.CodecOptions{}, dialect.Op{Method: "f", Params: raw(`[{"$remote":1}]`)}},
	} {
		if _, err := NewCodec(c.o).Encode(c.op); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// calling returns a codec with one pending call, whose id is 1.
func calling(t *testing.T, op dialect.Op) *codec {
	t.Helper()
	c := NewCodec(dialect.CodecOptions{}).(*codec)
	if _, err := c.Encode(op); err != nil {
		t.Fatal(err)
	}
	return c
}

func decoded(t *testing.T, c *codec, text string) wire.Message {
	t.Helper()
	msgs, _, err := c.Decode([]byte(text))
	if err != nil || len(msgs) != 1 {
		t.Fatalf("%s: %d messages, %v", text, len(msgs), err)
	}
	return msgs[0].Clone()
}

func TestResults(t *testing.T) {
	for _, c := range []struct {
		op         dialect.Op
		say, want  string
		kind       wire.Kind
		errMessage string
	}{
		{dialect.Op{Method: "f"}, `"result":{"type":"int","value":7}`, `7`, wire.Response, ""},
		{dialect.Op{Method: "f"}, `"result":null`, `null`, wire.Response, ""},
		{dialect.Op{Method: "f"}, `"result":{"type":"null"},"error":null`, `null`, wire.Response, ""},
		{dialect.Op{Method: "f", Extra: raw(`{"values":true}`)}, `"result":{"type":"int","value":7}`, `{"type":"int","value":7}`, wire.Response, ""},
		{dialect.Op{Method: "f"}, `"result":7`, ``, wire.Invalid, "7 is not a transport value"},
		{dialect.Op{Method: "f"}, `"error":"boom"`, ``, wire.Response, "boom"},
		{dialect.Op{Method: "f"}, `"error":{"code":-32000,"message":"m"},"result":{"type":"int","value":7}`, ``, wire.Response, "m"},
		{dialect.Op{Method: "object.destroy"}, `"result":null`, `null`, wire.Response, ""},
		{
			dialect.Op{Method: "object.new", Params: raw(`{"class":"Config"}`)},
			`"result":{"library":"hello","class":"Config","id":"1"}`,
			`{"$remote":{"library":"hello","class":"Config","id":"1"}}`, wire.Response, "",
		},
		{
			dialect.Op{Method: "object.new", Params: raw(`{"class":"Config"}`)},
			`"result":{"id":"9","more":1}`,
			`{"$remote":{"library":"","class":"Config","id":"9"}}`, wire.Response, "",
		},
		{dialect.Op{Method: "object.new"}, `"result":{"id":9}`, ``, wire.Invalid, "is not a reference"},
	} {
		m := decoded(t, calling(t, c.op), `{"jsonrpc":"2.0","id":1,`+c.say+`}`)
		if m.Kind != c.kind || c.want != "" && string(m.Body) != c.want || m.Kind == wire.Response && !m.Final {
			t.Errorf("%s %s: %v %s %v", c.op.Method, c.say, m.Kind, m.Body, m.Err)
		}
		if c.errMessage != "" && (m.Err == nil || !strings.Contains(m.Err.Message+string(m.Err.Data), c.errMessage)) {
			t.Errorf("%s: %v", c.say, m.Err)
		}
	}
}

// A response whose id has another type fails the call.
func TestIDOfAnotherType(t *testing.T) {
	for _, id := range []string{`"1"`, `"1.0"`, `"1.00"`} {
		m := decoded(t, calling(t, dialect.Op{Method: "f"}), `{"jsonrpc":"2.0","id":`+id+`,"result":null}`)
		if m.Kind != wire.Invalid || string(m.ID) != "1" || !strings.Contains(string(m.Err.Data), "was returned as") {
			t.Errorf("%s: %+v", id, m)
		}
	}
	for _, id := range []string{`2`, `"x"`, `1.0`, `10e-1`, `1.5`, `null`, `-1`} {
		if m := decoded(t, calling(t, dialect.Op{Method: "f"}), `{"jsonrpc":"2.0","id":`+id+`,"result":null}`); m.Kind != wire.Response {
			t.Errorf("%s: %+v", id, m)
		}
	}
}

// A raw message gets the response unchanged, with its own id.
func TestRaw(t *testing.T) {
	c := calling(t, dialect.Op{Method: "f"})
	if _, err := c.Encode(dialect.Op{Kind: dialect.Raw, Params: raw(`{"id":"1","method":"function.call"}`)}); err != nil {
		t.Fatal(err)
	}
	fresh, err := c.Encode(dialect.Op{Kind: dialect.Call, Method: dialect.FreshID})
	testkit.OK(t, err)
	for _, id := range []string{`"1"`, string(fresh.ID)} {
		if m := decoded(t, c, `{"id":`+id+`,"result":7}`); m.Kind != wire.Response || string(m.Body) != "7" {
			t.Errorf("%s: %+v", id, m)
		}
	}
	if len(c.calls) != 1 {
		t.Errorf("the calls %v are stored", c.calls)
	}
}

// A callback is valid only during its call.
func TestCallbacks(t *testing.T) {
	c := calling(t, dialect.Op{Method: "f", Params: raw(`[null,null]`), Funcs: map[string]string{"/0": "first", "/1": "first"}})
	ask := `{"jsonrpc":"2.0","id":7,"method":"callback.call","params":{"id":"cb-1","args":[{"type":"dict","entries":{"token":{"type":"string","value":"Hello"}}}]}}`
	m := decoded(t, c, ask)
	if m.Kind != wire.Request || m.Method != "first" || string(m.Params) != `{"args":[{"token":"Hello"}],"kwargs":{}}` {
		t.Errorf("%v %s %s", m.Kind, m.Method, m.Params)
	}
	out, err := c.Reply(m, wire.Event{Kind: wire.Data, Final: true, Data: raw(`"ack"`)})
	if err != nil || string(out[0]) != `{"jsonrpc":"2.0","id":7,"result":{"type":"string","value":"ack"}}` {
		t.Errorf("%s, %v", out, err)
	}
	bad := decoded(t, c, `{"jsonrpc":"2.0","id":8,"method":"callback.call","params":{"id":"cb-2","args":[7]}}`)
	if bad.Kind != wire.Invalid || string(bad.Err.Code) != "-32000" || string(bad.ID) != "8" {
		t.Errorf("%+v", bad)
	}
	decoded(t, c, `{"jsonrpc":"2.0","id":1,"result":null}`)
	if m := decoded(t, c, ask); m.Method != methodCallback {
		t.Errorf("the callback outlives its call: %s", m.Method)
	}
	if len(c.calls)+len(c.callbacks) != 0 {
		t.Errorf("the calls %v and callbacks %v are stored", c.calls, c.callbacks)
	}
}

// A log line belongs to the latest call.
func TestLog(t *testing.T) {
	c := calling(t, dialect.Op{Method: "f"})
	c.hosts.Store(true)
	if _, err := c.Encode(dialect.Op{Method: "g"}); err != nil {
		t.Fatal(err)
	}
	say := `{"jsonrpc":"2.0","id":8,"method":"host.log","params":{"level":"WARNING","message":"plugin work started","args":[{"type":"string","value":"name"},{"type":"string","value":"Ada"}]}}`
	msgs, _, _ := c.Decode([]byte(say))
	if len(msgs) != 2 || msgs[0].Kind != wire.Item || string(msgs[0].ID) != "2" || !msgs[0].Beside || msgs[1].Kind != wire.Request {
		t.Fatalf("%+v", msgs)
	}
	ev, err := dialect.EventOf(c, msgs[0])
	if got := string(ev.AppendJSON(nil)); err != nil || got != `{"event":"log","level":"warn","message":"plugin work started","extra":{"name":"Ada"}}` {
		t.Errorf("%s, %v", got, err)
	}
	out, err := c.Reply(msgs[1], wire.Event{Kind: wire.Data, Final: true, Data: raw("null")})
	if err != nil || string(out[0]) != `{"jsonrpc":"2.0","id":8,"result":{"type":"null"}}` {
		t.Errorf("%s, %v", out, err)
	}
}

// FuzzDecode checks that a response has the id of its request.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"type":"list","items":[{"type":"int","value":1}]}}`,
		`{"jsonrpc":"2.0","id":"1","result":null}`,
		`{"jsonrpc":"2.0","id":7,"method":"callback.call","params":{"id":"cb-1","args":[{"type":"bool","value":true}]}}`,
		`{"jsonrpc":"2.0","id":8,"method":"host.log","params":{"level":5,"args":[{}]}}`,
		`[{"jsonrpc":"2.0","id":8,"method":"host.log"},{"log":1},7]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := NewCodec(dialect.CodecOptions{}).(*codec)
		if _, err := c.Encode(dialect.Op{Method: "f", Params: raw(`[null]`), Funcs: map[string]string{"/0": "hook"}}); err != nil {
			t.Fatal(err)
		}
		msgs, _, _ := c.Decode(b)
		for _, m := range msgs {
			_, _ = dialect.EventOf(c, m)
			if m.Kind != wire.Request {
				continue
			}
			out, err := c.Reply(m, wire.Event{Kind: wire.Data, Final: true})
			if err != nil || len(out) != 1 || !strings.Contains(string(out[0]), string(m.ID)) {
				t.Fatalf("%s: %s, %v", m.Raw, out, err)
			}
		}
	})
}

// An empty array gets a response only over HTTP.
func TestDecodeEmptyBatch(t *testing.T) {
	for _, oneWay := range []bool{false, true} {
		msgs, _, err := NewCodec(dialect.CodecOptions{OneWay: oneWay}).Decode([]byte(" [ ] "))
		if err != nil || (len(msgs) == 1) != oneWay {
			t.Errorf("one way %v: %d messages, %v", oneWay, len(msgs), err)
		}
	}
}

// A constructor gets positional arguments or named ones.
func TestNewObject(t *testing.T) {
	for params, want := range map[string]string{
		`[1]`: `{"class":"C","args":[1]}`, `{"a":1}`: `{"class":"C","kwargs":{"a":1}}`, ``: `{"class":"C"}`,
	} {
		if method, got := newObject("C", json.RawMessage(params)); method != methodNew || string(got) != want {
			t.Errorf("%s: %s %s", params, method, got)
		}
	}
}
