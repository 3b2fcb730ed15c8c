package page_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/testkit"
)

// made lists dialect files with each property that affects calls, and whether their codecs append calls.
var made = []struct {
	text    string
	appends bool
}{
	{"", true},
	{"base = 'jsonrpc1'", true},
	{names, true},
	{names + "ids = 'integer'\ncounter = 'all'", true},
	{names + "ids = 'string'", false},
	{names + "ids = 'none'", false},
	{names + "none = '{}'", true},
	{names + "none = 'null'", true},
	{names + "params = 'array'\nnone = '[]'", true},
	{names + "params = 'one'", true},
	{names + "params = 'flat'\nextra = ['session']", true},
	{names + "params = 'prefixed'", true},
	{"base = 'none'\n[names]\nrequest = { method = 'head.method', params = 'body.0', id = 'head.id', const = { 'head.v' = 2, kind = 'q' } }\nresponse = { id = 'head.id', result = 'body' }", true},
	{"base = 'none'\n[names]\nrequest = { method = 'm', params = 'p', id = 'i' }\nresponse = { id = 'i', result = 'r', more = 'goes_on' }", false},
	{names + "[write]\nrequest = '{id: $id, do: $method, with: $params}'", false},
	{names + "[write]\nnotify = '{told: $method, with: $params}'", true},
	{"[call]\nmethod = '\"run\"'\nparams = '{name: $method, args: $params}'\nresult = '.value'", false},
	{"[during]\ntoken = '{_meta: {t: $token}}'", false},
	{"[during]\nlog = { method = 'log' }", false},
	{"[cancel]\nnotify = 'stop'\nparams = '{id: $id}'", false},
	{"flow = 'mcp'", false},
	{"[subscribe.'ticks*']\nitem = { method = 'ticks' }\nend = { call = 'a' }", true},
	{"[eval]\ncall = 'eval'\nparams = '{code: $code}'\n[keep.a]\nx = '.'", true},
	{"[[greet]]\ncall = 'a'\n[[leave]]\ncall = 'b c'\n[[leave]]\nnotify = 'ü'", true},
}

const names = `
base = "none"
[names]
request = { method = "command", params = "arguments", id = "seq", const = { type = "request", v = [1, 2.5] } }
response = { id = "re", result = "body", error = "failed", message = "failed.text", const = { type = "response" } }
event = { method = "event", params = "data", const = { type = "event" } }
`

// embeddedAppend has the embedded dialect files whose codecs append calls.
var embeddedAppend = map[string]bool{"bidi": true, "cdp": true, "netrpc": true, "qmp": true}

// TestAppendCall checks that AppendCall and Encode write the same bytes for the same id, and that a refused AppendCall does not
// affect Encode.
func TestAppendCall(t *testing.T) {
	specs := map[string]dialect.Spec{}
	want := map[string]bool{}
	for _, name := range library.Names() {
		s, _, err := library.Find(name)
		testkit.OK(t, err)
		specs[name], want[name] = s, embeddedAppend[name]
	}
	for i, m := range made {
		name := fmt.Sprintf("made%d", i)
		p, err := load.Parse(name+".toml", []byte("name = 'made'\n"+m.text))
		if err != nil {
			t.Fatalf("%s\n%v", m.text, err)
		}
		s, err := library.Spec(p)
		testkit.OK(t, err)
		specs[name], want[name] = s, m.appends
	}
	for name, s := range specs {
		t.Run(name, func(t *testing.T) {
			one, other := s.NewCodec(dialect.CodecOptions{}), s.NewCodec(dialect.CodecOptions{})
			appendCall := one.Abilities().AppendCall
			ok := appendCall != nil
			if ok != want[name] {
				t.Fatalf("AppendCall is set: %v", ok)
			}
			if ok {
				sameCalls(t, one, appendCall, other)
			}
		})
	}
}

// sameCalls compares random calls from one codec's appendCall with those from the other codec's Encode.
func sameCalls(t *testing.T, one dialect.Codec, appendCall func([]byte, *dialect.Op) ([]byte, int64, bool), other dialect.Codec) {
	r := rand.New(rand.NewPCG(15, 15))
	appended := 0
	out := []byte("before")
	for range 3000 {
		op := anyOp(r)
		want, wantErr := other.Encode(op)
		start := len(out)
		if next, id, ok := appendCall(out, &op); ok {
			out = next
			appended++
			if wantErr != nil || string(out[start:]) != string(want.Raw) || string(want.ID) != strconv.FormatInt(id, 10) || !want.Final {
				t.Fatalf("%+v:\nappended %s as %d\n encoded %s as %s, %v", op, out[start:], id, want.Raw, want.ID, wantErr)
			}
			if stream, final := one.Opened(op, wire.Message{Kind: wire.Response, ID: want.ID, Body: []byte(`"s"`)}); stream != nil || !final {
				t.Fatalf("%+v opens %s, %v", op, stream, final)
			}
			continue
		} else if len(next) != start {
			t.Fatalf("%+v: %s was appended", op, next[start:])
		}
		if got, err := one.Encode(op); fmt.Sprint(err) != fmt.Sprint(wantErr) || unclocked(got.Raw) != unclocked(want.Raw) || string(got.ID) != string(want.ID) {
			t.Fatalf("%+v:\nnot appended, then encoded %s as %s, %v\n                before: %s as %s, %v", op, got.Raw, got.ID, err, want.Raw, want.ID, wantErr)
		}
	}
	if appended < 500 {
		t.Errorf("only %d calls were appended", appended)
	}
}

// clocks matches the members of QMP timestamps.
var clocks = regexp.MustCompile(`"(micro)?seconds":[0-9]+`)

func unclocked(msg []byte) string { return clocks.ReplaceAllString(string(msg), "clock") }

// anyOp returns a random operation.
func anyOp(r *rand.Rand) dialect.Op {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	op := dialect.Op{
		Method: pick("a", "b c", "ü", "x.y/z", `"\`+"\n", "", "ticks1", dialect.FreshID),
		Params: json.RawMessage(pick("", "", "{}", "[]", "null", "7", `"text"`, `{"a":1.10,"b":[2]}`, " { \"a\" :\n1e400 , \"a\":2 } ", "[1, [2],\t3 ]", `[7]`, `[ {"session":1} ]`, "{ }", `{"command":"x","seq":9}`)),
	}
	if r.IntN(4) == 0 {
		op.Extra = json.RawMessage(pick(`{"session":"s"}`, `{"a":1, "seq":2}`, `{}`, "null"))
	}
	switch r.IntN(10) {
	case 0:
		op.Kind = dialect.Notify
	case 1:
		op.Kind = dialect.Subscribe
	case 2:
		op.Kind = dialect.Internal
	case 3:
		op.Funcs = map[string]string{"/f": "hook"}
	}
	return op
}

// A dialect file with other names allocates no memory per message, like plain JSON-RPC.
func TestNamesAllocateNothing(t *testing.T) {
	testkit.RaceSkips(t)
	for _, m := range []string{"", names, names + "params = 'flat'", names + "[subscribe.ticks]\nitem = { method = 'ticks' }"} {
		p, err := load.Parse("x.toml", []byte("name = 'x'\n"+m))
		testkit.OK(t, err)
		s, err := library.Spec(p)
		testkit.OK(t, err)
		c := s.NewCodec(dialect.CodecOptions{})
		if strings.Contains(m, "ticks") {
			if _, err := c.Encode(dialect.Op{Kind: dialect.Subscribe, Method: "ticks"}); err != nil {
				t.Fatal(err)
			}
		}
		op := &dialect.Op{Kind: dialect.Call, Method: "echo", Params: []byte(`{"message":"hi"}`)}
		var out []byte
		appendCall := c.Abilities().AppendCall
		got := map[string]float64{"append": testing.AllocsPerRun(100, func() { out, _, _ = appendCall(out[:0], op) })}
		for _, raw := range []string{
			`{"jsonrpc":"2.0","id":1,"result":{"a":[1,2]}}`, `{"type":"response","re":2,"body":{"a":[1,2]}}`,
			`{"type":"event","event":"ticks","data":{"a":1}}`, `{"jsonrpc":"2.0","method":"ticks","params":{"a":1}}`,
			`{"type":"request","v":[1,2.5],"command":"do","seq":7}`,
		} {
			flat := strings.Contains(m, "flat") && !strings.Contains(raw, "response") // params are assembled from members
			if base := strings.Contains(raw, "jsonrpc"); base != (m == "") || flat {
				continue
			}
			message := []byte(raw)
			var ev wire.Event
			got[raw] = testing.AllocsPerRun(100, func() {
				msgs, _, err := c.Decode(message)
				if err != nil || len(msgs) != 1 || msgs[0].Kind == wire.Invalid {
					t.Fatalf("%s: %+v, %v", raw, msgs, err)
				}
				testkit.OK(t, c.Event(&msgs[0], &ev))
			})
		}
		for what, n := range got {
			if n > 0 {
				t.Errorf("%s: %v allocations for %s", m, n, what)
			}
		}
	}
}
