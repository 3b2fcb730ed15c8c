package jsonrpc

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDecode(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`, `request id=1 method=m params=[1] body=[1]`},
		{"blanks around and between", " {\t\"jsonrpc\" : \"2.0\" ,\r\n \"id\" : 1 , \"method\" : \"m\" } ", `request id=1 method=m`},
		{"any order of members", `{"params":{"a":1},"method":"m","id":"x"}`, `request id="x" method=m params={"a":1} body={"a":1}`},
		{"keys and names with escapes", `{"i\u0064":1,"method":"\u006d\/\"","jsonrpc":"2.0"}`, `request id=1 method=m/"`},
		{"of two members the last counts", `{"id":1,"id":2,"method":"a","method":"b"}`, `request id=2 method=b`},
		{"null params are none", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, `request id=1 method=m`},
		{"any params without a version", `{"id":1,"method":"m","params":5}`, `request id=1 method=m params=5 body=5`},
		{"an id of null with a version", `{"jsonrpc":"2.0","id":null,"method":"m"}`, `request id=null method=m`},
		{"an id of null without", `{"id":null,"method":"m"}`, `notification method=m`},
		{"an inspector's event", `{"method":"Runtime.x","params":{"id":1}}`, `notification method=Runtime.x params={"id":1} body={"id":1}`},
		{"members that nobody knows", `{"sessionId":"s","id":1,"method":"m","trace":{"a":[1,{}]}}`, `request id=1 method=m`},

		{"a result", `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, `response id=1 body={"a":1}`},
		{"a result of null", `{"id":1,"result":null}`, `response id=1 body=null`},
		{"version 1's result", `{"id":1,"result":5,"error":null}`, `response id=1 body=5`},
		{"version 1's error", `{"id":1,"result":null,"error":"text"}`, `response id=1 error=text`},
		{"only a null error", `{"id":1,"error":null}`, `response id=1 body=null`},
		{"an error beside a result", `{"id":1,"result":5,"error":{"code":1,"message":"m"}}`, `response id=1 error=m (code 1)`},
		{"an error without id", `{"error":{"code":1,"message":"m"}}`, `response error=m (code 1)`},
		{"an error with a number for a message", `{"id":1,"error":{"code":1,"message":5}}`, `response id=1 error=5 (code 1)`},
		{"an error with no message", `{"id":1,"error":{"code":1}}`, `response id=1 error=error 1`},
		{"an answer that names its method", `{"id":1,"method":"m","result":5}`, `response id=1 body=5`},

		{"an item", `{"jsonrpc":"2.0","method":"m","params":{"subscription":"s","result":[1]}}`, `item stream="s" method=m params={"subscription":"s","result":[1]} body=[1]`},
		{"an item by another name", `{"method":"m","params":{"subscriptionId":9007199254740993,"x":1}}`, `item stream=9007199254740993 method=m params={"subscriptionId":9007199254740993,"x":1} body={"subscriptionId":9007199254740993,"x":1}`},
		{"an item with params first", `{"params":{"result":null,"subscription_id":"s"},"method":"m"}`, `item stream="s" method=m params={"result":null,"subscription_id":"s"} body=null`},
		{"the end of a stream", `{"method":"m","params":{"subscription":"s","done":true}}`, `item stream="s" method=m params={"subscription":"s","done":true} final`},
		{"a last item", `{"method":"m","params":{"subscription":"s","result":1,"done":true}}`, `item stream="s" method=m params={"subscription":"s","result":1,"done":true} body=1 final`},
		{"a failed stream", `{"method":"m","params":{"subscription":"s","error":{"code":1,"message":"x"}}}`, `item stream="s" method=m params={"subscription":"s","error":{"code":1,"message":"x"}} error=x (code 1) final`},
		{"a stream's word that it is over", `{"method":"m","params":{"subscription":"s","result":{ "event" : "stop" }}}`, `item stream="s" method=m params={"subscription":"s","result":{ "event" : "stop" }} body={ "event" : "stop" } final`},
		{"an item that says more", `{"method":"m","params":{"subscription":"s","result":{"event":"stop","at":1}}}`, `item stream="s" method=m params={"subscription":"s","result":{"event":"stop","at":1}} body={"event":"stop","at":1}`},
		{"no stream's id", `{"method":"m","params":{"subscription":{"a":1}}}`, `notification method=m params={"subscription":{"a":1}} body={"subscription":{"a":1}}`},
		{"a request is not an item", `{"id":1,"method":"m","params":{"subscription":"s","result":1}}`, `request id=1 method=m params={"subscription":"s","result":1} body={"subscription":"s","result":1}`},
		{"a cancel", `{"method":"$/cancelRequest","params":{"id":"a"}}`, `cancel target="a" method=$/cancelRequest params={"id":"a"} body={"id":"a"}`},

		{"not JSON", `{"id":1`, `invalid error=Parse error (code -32700)`},
		{"nothing", ``, `invalid error=Parse error (code -32700)`},
		{"two values", `{} {}`, `invalid error=Parse error (code -32700)`},
		{"a comma too many", `{"id":1,"method":"m",}`, `invalid error=Parse error (code -32700)`},
		{"a comma too few", `{"id":1 "method":"m"}`, `invalid error=Parse error (code -32700)`},
		{"broken deep inside params", `{"id":1,"method":"m","params":{"a":[01]}}`, `invalid error=Parse error (code -32700)`},
		{"broken in a member that nobody knows", `{"id":1,"method":"m","x":tru}`, `invalid error=Parse error (code -32700)`},
		{"a request that is not UTF-8", "{\"id\":1,\"method\":\"\xff\"}", "invalid id=1 method=\uFFFD error=Parse error (code -32700)"},
		{"an answer that is not UTF-8", "{\"id\":1,\"result\":\"\xff\"}", `invalid id=1 error=Parse error (code -32700) final`},
		{"a notification that is not UTF-8", "{\"method\":\"m\",\"params\":[\"\xff\"]}", `invalid method=m error=Parse error (code -32700)`},
		{"an id that is not UTF-8", "{\"id\":\"\xff\",\"method\":\"m\"}", `invalid method=m error=Parse error (code -32700)`},
		{"a batch that is not UTF-8", "[{\"id\":1,\"method\":\"\xff\"}]", `invalid error=Parse error (code -32700)`},
		{"neither JSON nor UTF-8", "{\"id\":1,\"method\":\"\xff\"", `invalid error=Parse error (code -32700)`},
		{"a control character in a key", "{\"i\x01d\":1}", `invalid error=Parse error (code -32700)`},
		{"nested too deep", strings.Repeat("[", 2000) + strings.Repeat("]", 2000), `invalid error=Parse error (code -32700)`},
		{"params nested too deep", `{"method":"m","params":{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}}`, `invalid error=Parse error (code -32700)`},

		{"a number", `5`, `invalid error=Invalid Request (code -32600)`},
		{"a method that is a number", `{"jsonrpc":"2.0","id":"a","method":1}`, `invalid id="a" error=Invalid Request (code -32600)`},
		{"params that are a string", `{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}`, `invalid id=1 method=m error=Invalid Request (code -32600)`},
		{"an id that is an object", `{"id":{},"method":"m"}`, `invalid method=m error=Invalid Request (code -32600)`},
		{"an answer whose id is an object", `{"id":{},"result":1}`, `invalid error=Invalid Request (code -32600) final`},
		{"neither request nor answer", `{"id":3}`, `invalid id=3 error=Invalid Request (code -32600)`},
		{"an empty batch", `[]`, `invalid error=Invalid Request (code -32600)`},

		{"a batch", `[ {"id":1,"method":"a"} , 5, {"method":"b"} ]`, `batch: request id=1 method=a; invalid error=Invalid Request (code -32600); notification method=b`},
		{"a batch in a batch", `[[]]`, `batch: invalid error=Invalid Request (code -32600)`},
		{"a broken batch", `[{"id":1,"method":"a"},]`, `invalid error=Parse error (code -32700)`},
		{"a batch that is too long", "[1" + strings.Repeat(",1", 1<<16) + "]", `invalid error=Parse error (code -32700)`},
		{"something behind a batch", `[{"id":1,"method":"a"}]]`, `invalid error=Parse error (code -32700)`},
	}
	for _, v := range []Version{V1, V2} {
		for _, test := range tests {
			t.Run(fmt.Sprint(test.name, " ", v), func(t *testing.T) {
				c := NewCodec(Options{Version: v})
				for range 2 { // a codec is reused
					msgs, batch, err := c.Decode([]byte(test.in))
					if err != nil {
						t.Fatal(err)
					}
					var all []string
					for _, m := range msgs {
						all = append(all, testkit.Message(m))
						if s, clone := testkit.Message(m), testkit.Message(m.Clone()); s != clone {
							t.Errorf("the clone of %s is %s", s, clone)
						}
					}
					got := strings.Join(all, "; ")
					if batch {
						got = "batch: " + got
					}
					if got != test.want {
						t.Errorf("\ngot  %s\nwant %s", got, test.want)
					}
				}
			})
		}
	}
}

// The codec does not keep the memory of a long batch.
func TestLongBatchIsForgotten(t *testing.T) {
	c := NewCodec(Options{}).(*codec)
	msgs, batch, err := c.Decode([]byte("[1" + strings.Repeat(",1", 1<<16-1) + "]"))
	if len(msgs) != 1<<16 || !batch || err != nil {
		t.Fatal(len(msgs), batch, err)
	}
	c.Decode([]byte(`{"method":"m"}`))
	if n := cap(c.msgs); n > 1<<10 {
		t.Errorf("there is room for %d messages", n)
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	c := NewCodec(Options{})
	for _, in := range []string{
		string(item240),
		`{"jsonrpc":"2.0","id":1,"method":"m","params":[1,2,3]}`,
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,2,3]}}`,
	} {
		raw := []byte(in)
		if n := testing.AllocsPerRun(100, func() { c.Decode(raw) }); n != 0 {
			t.Errorf("%v allocations for %s", n, in)
		}
	}
}

// Decoding copies nothing: the parts of a message point into its bytes.
func TestDecodeSlices(t *testing.T) {
	c := NewCodec(Options{})
	buf := append([]byte("  "), item240...)
	msgs, _, _ := c.Decode(buf)
	dst := make([]byte, 0, 1024)
	var m wire.Message
	if n := testing.AllocsPerRun(10, func() { m, dst = msgs[0].CopyTo(dst[:0]) }); n != 0 {
		t.Errorf("copying allocates %v times", n)
	}
	clear(buf)
	if string(m.Raw) != string(item240) || string(m.Stream) != `"0xcd0c3e8af590364c09d0fa6a1210faf5"` {
		t.Error(testkit.Message(m))
	}
}

func TestErrorMembers(t *testing.T) {
	raw := `{"code":-32000,"message":"busy","data":{"retryable":true},"own":[1]}`
	e := parseError([]byte(raw))
	if string(e.Code) != "-32000" || string(e.Data) != `{"retryable":true}` || e.Retryable == nil || !*e.Retryable || string(e.JSON()) != raw {
		t.Errorf("%+v", e)
	}
	if e := parseError([]byte(`{"code":{},"message":"m"}`)); e.Code != nil || e.Message != "m" {
		t.Errorf("%+v", e)
	}
}

func TestEncode(t *testing.T) {
	op := dialect.Op{Kind: dialect.Subscribe, Method: `a_subscribe`, Params: []byte("[\n \"x y\"\n]")}
	tests := []struct {
		o    Options
		op   dialect.Op
		want string
	}{
		{Options{}, dialect.Op{Method: "m"}, `{"jsonrpc":"2.0","id":1,"method":"m"}`},
		{Options{}, dialect.Op{Method: "a<&\"\n", Params: []byte(`{"k":1.10}`)}, `{"jsonrpc":"2.0","id":1,"method":"a<&\"\n","params":{"k":1.10}}`},
		{Options{}, op, `{"jsonrpc":"2.0","id":1,"method":"a_subscribe","params":["x y"]}`},
		{Options{}, dialect.Op{Kind: dialect.Notify, Method: "m"}, `{"jsonrpc":"2.0","method":"m"}`},
		{Options{}, dialect.Op{Method: "m", Extra: []byte(`{ "sessionId":"s" }`)}, `{"jsonrpc":"2.0","id":1,"method":"m","sessionId":"s"}`},
		{Options{}, dialect.Op{Method: "m", Extra: []byte(`{ }`)}, `{"jsonrpc":"2.0","id":1,"method":"m"}`},
		{Options{}, dialect.Op{Kind: dialect.Unsubscribe, Of: &op, Stream: wire.ID(`"s"`)}, `{"jsonrpc":"2.0","id":1,"method":"a_unsubscribe","params":["s"]}`},
		{Options{}, dialect.Op{Kind: dialect.Unsubscribe, Of: &op, Stream: wire.ID(`5`), Unsubscribe: "stop"}, `{"jsonrpc":"2.0","id":1,"method":"stop","params":[5]}`},
		{Options{}, dialect.Op{Kind: dialect.Unsubscribe, Of: &op}, `{"jsonrpc":"2.0","id":1,"method":"a_unsubscribe","params":["x y"]}`},
		{Options{CancelMethod: "$/cancelRequest"}, dialect.Op{Kind: dialect.Cancel, OfID: wire.ID(`7`)}, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}`},
		{Options{Version: V1}, dialect.Op{Method: "m"}, `{"id":1,"method":"m","params":[]}`},
		{Options{Version: V1}, dialect.Op{Method: "m", Params: []byte(`[]`)}, `{"id":1,"method":"m","params":[]}`},
		{Options{Version: V1}, dialect.Op{Kind: dialect.Notify, Method: "m"}, `{"id":null,"method":"m","params":[]}`},
		{Options{}, dialect.Op{Kind: dialect.Raw, Params: []byte(`{ "id":9 , "method":"m" }`)}, `{ "id":9 , "method":"m" }`},
	}
	for _, test := range tests {
		m, err := NewCodec(test.o).Encode(test.op)
		if err != nil || string(m.Raw) != test.want {
			t.Errorf("got  %s %v\nwant %s", m.Raw, err, test.want)
		}
	}
	for _, op := range []dialect.Op{
		{Kind: dialect.Cancel, OfID: wire.ID("1")},
		{Kind: dialect.Eval, Code: "1"},
		{Kind: dialect.Unsubscribe, Of: &dialect.Op{Method: "watch"}},
	} {
		if m, err := NewCodec(Options{}).Encode(op); !errors.Is(err, wire.ErrUnsupported) {
			t.Errorf("%s %v", m.Raw, err)
		}
	}
	for _, op := range []dialect.Op{
		{Kind: dialect.Raw, Params: []byte(`{`)},
		{Method: "m", Funcs: map[string]string{"/a": "f"}},
	} {
		if _, err := NewCodec(Options{}).Encode(op); wire.AsFault(err) == nil || wire.AsFault(err).Kind != wire.Usage {
			t.Error(err)
		}
	}
}

func TestRawKinds(t *testing.T) {
	for in, want := range map[string]string{
		`{"id":"a","method":"m"}`:               `request "a"`,
		`{"jsonrpc":"2.0","id":1,"method":"m"}`: `request 1`,
		`{"method":"m"}`:                        `notification `,
		`{"id":1,"result":1}`:                   `response `,
		`[{"id":1,"method":"m"}]`:               `notification `,
		`{"anything":"else"}`:                   `invalid `,
	} {
		m, err := NewCodec(Options{}).Encode(dialect.Op{Kind: dialect.Raw, Params: []byte(in)})
		if got := m.Kind.String() + " " + m.ID.String(); err != nil || got != want || string(m.Raw) != in {
			t.Errorf("%s is a %s, %v", in, got, err)
		}
	}
}

func TestUnsubscribeNames(t *testing.T) {
	for method, want := range map[string]string{
		"eth_subscribe":           "eth_unsubscribe",
		"subscribe":               "unsubscribe",
		"SUBSCRIBE":               "UNSUBSCRIBE",
		"Subscribe":               "Unsubscribe",
		"fooSubscribe":            "fooUnsubscribe",
		"subscribeX":              "unsubscribeX",
		"chain_subscribeNewHeads": "chain_unsubscribeNewHeads",
		"accountSubscribe":        "accountUnsubscribe",
		"resources/subscribe":     "resources/unsubscribe",
		"chainHead_v1_follow":     "chainHead_v1_unfollow",
		"watchOrders":             "watchOrders_unsubscribe",
		"listSubscribers":         "listSubscribers_unsubscribe",
		"x_follower":              "x_follower_unsubscribe",
	} {
		got, known := UnsubscribeName(method)
		if got != want || known == (want == method+"_unsubscribe") {
			t.Errorf("%s → %s %v, want %s", method, got, known, want)
		}
		if found := strings.Join(subscribeNames(got), " "); !strings.Contains(" "+found+" ", " "+method+" ") {
			t.Errorf("%s ends a stream of %q, want %s", got, found, method)
		}
	}
}

func TestReply(t *testing.T) {
	req := wire.Message{Kind: wire.Request, ID: wire.ID(`1.0`), Method: "m"}
	id := wire.ID(`"s"`)
	for _, test := range []struct {
		req    wire.Message
		ev     wire.Event
		v2, v1 string
	}{
		{req, wire.Event{Data: []byte("[1,\n2]")}, `{"jsonrpc":"2.0","id":1.0,"result":[1,2]}`, `{"id":1.0,"result":[1,2],"error":null}`},
		{req, wire.Event{}, `{"jsonrpc":"2.0","id":1.0,"result":null}`, `{"id":1.0,"result":null,"error":null}`},
		{req, wire.Event{Kind: wire.Failure, Err: wire.NewError(5, "m")}, `{"jsonrpc":"2.0","id":1.0,"error":{"code":5,"message":"m"}}`, `{"id":1.0,"result":null,"error":{"code":5,"message":"m"}}`},
		{wire.Message{}, wire.Event{Kind: wire.Failure, Err: wire.NewError(-32700, "m")}, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, `{"id":null,"result":null,"error":{"code":-32700,"message":"m"}}`},
		{req, wire.Event{Kind: wire.Opened, Stream: id}, `{"jsonrpc":"2.0","id":1.0,"result":"s"}`, `{"id":1.0,"result":"s","error":null}`},
		{req, wire.Event{Stream: id, Data: []byte("1")}, `{"jsonrpc":"2.0","method":"m","params":{"subscription":"s","result":1}}`, `{"id":null,"method":"m","params":{"subscription":"s","result":1}}`},
		{req, wire.Event{Stream: id, Kind: wire.Done}, `{"jsonrpc":"2.0","method":"m","params":{"subscription":"s","done":true}}`, `{"id":null,"method":"m","params":{"subscription":"s","done":true}}`},
		{req, wire.Event{Stream: id, Kind: wire.Failure, Err: wire.NewError(5, "m")}, `{"jsonrpc":"2.0","method":"m","params":{"subscription":"s","error":{"code":5,"message":"m"}}}`, `{"id":null,"method":"m","params":{"subscription":"s","error":{"code":5,"message":"m"}}}`},
		{req, wire.Event{Kind: wire.Progress}, ``, ``},
		{req, wire.Event{Kind: wire.Log, Stream: id}, ``, ``},
		{req, wire.Event{Kind: wire.Done}, ``, ``},
		{wire.Message{Kind: wire.Notification}, wire.Event{}, ``, ``},
	} {
		for v, want := range map[Version]string{V1: test.v1, V2: test.v2} {
			msgs, err := NewCodec(Options{Version: v}).Reply(test.req, test.ev)
			got := ""
			if len(msgs) > 0 {
				got = string(msgs[0])
			}
			if err != nil || len(msgs) > 1 || got != want {
				t.Errorf("got  %s %v\nwant %s", got, err, want)
			}
		}
	}
}

// FuzzDecode checks that parts lie inside the message, and that an id is unchanged after Decode and Reply.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1.0,"method":"m","params":{"subscription":"s","result":1}}`,
		`[{"id":"a","result":1},{"method":"$/cancelRequest","params":{"id":1}},5]`,
		`{"id":1,"error":{"code":"x","message":null,"data":{"retryable":1}}}`, `{"a`, `[]`, string(item240),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, back := NewCodec(Options{}), NewCodec(Options{})
		msgs, _, err := c.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range msgs {
			m := m.Clone()
			if _, err := dialect.EventOf(c, m); err != nil {
				t.Fatal(err)
			}
			c.Opened(dialect.Op{Kind: dialect.Subscribe}, m)
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

// A peer that is missing on a tape sends these responses, in both versions.
func TestShapes(t *testing.T) {
	two, one := Shape(V2), Shape(V1)
	for _, c := range []struct{ got, want string }{
		{two.Error, `{"jsonrpc":"2.0","id":$id,"error":{"code":$code,"message":$message,"data":$data}}`},
		{two.Ended, `{"jsonrpc":"2.0","id":$id,"result":true}`},
		{one.Error, `{"result":null,"error":{"code":$code,"message":$message,"data":$data},"id":$id}`},
		{one.Ended, `{"result":true,"error":null,"id":$id}`},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// A batch has at most 65,536 messages. A larger one is refused with a single error.
func TestBatchIsBounded(t *testing.T) {
	batch := func(n int) []byte { return []byte("[" + strings.Repeat("1,", n-1) + "1]") }
	c := NewCodec(Options{})
	msgs, _, err := c.Decode(batch(maxBatch))
	if err != nil || len(msgs) != 1<<16 {
		t.Fatal(len(msgs), err)
	}
	msgs, _, err = c.Decode(batch(maxBatch + 1))
	if err != nil || len(msgs) != 1 || msgs[0].Kind != wire.Invalid {
		t.Fatal(len(msgs), err)
	}
}
