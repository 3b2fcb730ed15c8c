package jsonrpc

import (
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
		{"null params are none", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, `request id=1 method=m`},
		{"an inspector's event", `{"method":"Runtime.x","params":{"id":1}}`, `notification method=Runtime.x params={"id":1} body={"id":1}`},
		{"members that nobody knows", `{"sessionId":"s","id":1,"method":"m","trace":{"a":[1,{}]}}`, `request id=1 method=m`},

		{"only a null error", `{"id":1,"error":null}`, `response id=1 body=null`},
		{"an error with a number for a message", `{"id":1,"error":{"code":1,"message":5}}`, `response id=1 error=5 (code 1)`},
		{"an error with no message", `{"id":1,"error":{"code":1}}`, `response id=1 error=error 1`},

		{"an item by another name", `{"method":"m","params":{"subscriptionId":9007199254740993,"x":1}}`, `item stream=9007199254740993 method=m params={"subscriptionId":9007199254740993,"x":1} body={"subscriptionId":9007199254740993,"x":1}`},
		{"an item with params first", `{"params":{"result":null,"subscription_id":"s"},"method":"m"}`, `item stream="s" method=m params={"result":null,"subscription_id":"s"} body=null`},
		{"a last item", `{"method":"m","params":{"subscription":"s","result":1,"done":true}}`, `item stream="s" method=m params={"subscription":"s","result":1,"done":true} body=1 final`},
		{"an empty method cancels nothing", `{"jsonrpc":"2.0","method":"","params":{"id":7}}`, `notification params={"id":7} body={"id":7}`},
		{"a request is not an item", `{"id":1,"method":"m","params":{"subscription":"s","result":1}}`, `request id=1 method=m params={"subscription":"s","result":1} body={"subscription":"s","result":1}`},

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

		{"a batch in a batch", `[[]]`, `batch: invalid error=Invalid Request (code -32600)`},
	}
	for _, v := range []Version{V1, V2} {
		for _, test := range tests {
			t.Run(fmt.Sprint(test.name, " ", v), func(t *testing.T) {
				c := NewCodec(Options{Version: v})
				for range 2 { // a codec is reused
					msgs, batch, err := c.Decode([]byte(test.in))
					testkit.OK(t, err)
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

// A batch has at most 65,536 messages; a longer one is refused with a single error. The codec does not keep the memory of a long
// batch.
func TestBatchIsBounded(t *testing.T) {
	c := NewCodec(Options{}).(*codec)
	for n, want := range map[int]int{1 << 16: 1 << 16, 1<<16 + 1: 1} {
		msgs, batch, err := c.Decode([]byte("[1" + strings.Repeat(",1", n-1) + "]"))
		if len(msgs) != want || batch != (n == want) || err != nil || msgs[0].Kind != wire.Invalid {
			t.Fatal(n, len(msgs), batch, err)
		}
	}
	c.Decode([]byte(`{"method":"m"}`))
	if n := cap(c.in.Msgs); n > 1<<10 {
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
	if n := testing.AllocsPerRun(10, func() { dst = m.CopyOf(&msgs[0], dst[:0]) }); n != 0 {
		t.Errorf("copying allocates %v times", n)
	}
	clear(buf)
	if string(m.Raw) != string(item240) || string(m.Stream) != `"0xcd0c3e8af590364c09d0fa6a1210faf5"` {
		t.Error(testkit.Message(m))
	}
}

func TestErrorMembers(t *testing.T) {
	raw := `{"code":-32000,"message":"busy","data":{"retryable":true},"own":[1]}`
	e := ReadError([]byte(raw))
	if string(e.Code) != "-32000" || string(e.Data) != `{"retryable":true}` || e.Retryable == nil || !*e.Retryable || string(e.JSON()) != raw {
		t.Errorf("%+v", e)
	}
	if e := ReadError([]byte(`{"code":{},"message":"m"}`)); e.Code != nil || e.Message != "m" {
		t.Errorf("%+v", e)
	}
}

// Other messages that the codec writes are in wire/dialect/all/testdata/spoken/jsonrpc.txt.
func TestEncode(t *testing.T) {
	for _, test := range []struct {
		o    Options
		op   dialect.Op
		want string
	}{
		{Options{}, dialect.Op{Method: "a<&\"\n", Params: []byte("{\"k\":\n1.10}")}, `{"jsonrpc":"2.0","id":1,"method":"a<&\"\n","params":{"k":1.10}}`},
		{Options{}, dialect.Op{Method: "m", Extra: []byte(`{ }`)}, `{"jsonrpc":"2.0","id":1,"method":"m"}`},
		{Options{Cancels: true}, dialect.Op{Kind: dialect.Cancel, OfID: wire.ID(`7`)}, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}`},
	} {
		m, err := NewCodec(test.o).Encode(test.op)
		if err != nil || string(m.Raw) != test.want {
			t.Errorf("got  %s %v\nwant %s", m.Raw, err, test.want)
		}
	}
	if _, err := NewCodec(Options{}).Encode(dialect.Op{Kind: dialect.Raw, Params: []byte(`{`)}); wire.AsFault(err) == nil || wire.AsFault(err).Kind != wire.Usage {
		t.Error(err)
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
		testkit.OK(t, err)
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
