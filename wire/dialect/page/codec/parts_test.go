package codec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/envelope"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// dialectOf returns the dialect of a dialect file named x.
func dialectOf(t *testing.T, page string) *Dialect {
	t.Helper()
	p, err := load.Parse("x.toml", []byte("name = 'x'\n"+page))
	testkit.OK(t, err)
	d, err := New(p, Native{})
	testkit.OK(t, err)
	return d
}

// A listener begins a session only after the required first call.
func TestSessionsBegin(t *testing.T) {
	for _, page := range []string{"", "[serve]\nfirst = 'hi'", "[http]\nsession = 'X-Session'"} {
		if s := dialectOf(t, page).Sessions(); s != nil {
			t.Errorf("%q has sessions", page)
		}
	}
	s := dialectOf(t, "[serve]\nfirst = 'hi'\n[http]\nsession = 'X-Session'\nvalues = { X-Version = ['1'] }\nprime = '.p'").Sessions()
	if s.Header != "X-Session" || fmt.Sprint(s.Values) != "map[X-Version:[1]]" {
		t.Errorf("%+v", s)
	}
	for _, c := range []struct{ msg, want string }{
		{`{"id":1,"method":"hi"}`, "true false"},
		{`{"id":1,"method":"hi","params":{"p":true}}`, "true true"},
		{`{"id":1,"method":"hi","params":{"p":false}}`, "true false"},
		{`{"id":1,"method":"hi","params":7}`, "true false"},
		{`{"method":"hi","params":{"p":true}}`, "false false"},
		{`{"id":1,"method":"ho","params":{"p":true}}`, "false false"},
		{`{"id":1,"params":{"p":true}}`, "false false"},
		{`[{"id":1,"method":"hi","params":{"p":true}}]`, "false false"},
		{`7`, "false false"},
	} {
		begins, primes := s.Begins([]byte(c.msg))
		if got := fmt.Sprint(begins, primes); got != c.want {
			t.Errorf("%s: %s, want %s", c.msg, got, c.want)
		}
	}
	if begins, primes := dialectOf(t, "[serve]\nfirst = 'hi'\n[http]\nsession = 'X'").Sessions().Begins([]byte(`{"id":1,"method":"hi"}`)); !begins || primes {
		t.Error("the first request must begin a session and not prime it:", begins, primes)
	}
}

// The first path whose response contains a URL finds the WebSocket of an HTTP server. Only the path of that URL is used.
func TestResolve(t *testing.T) {
	if find, _ := Resolve(&load.Page{}); find != nil {
		t.Error("a dialect file without http.resolve has a resolver")
	}
	find, _ := Resolve(dialectOf(t, "[http]\nresolve = { get = ['/a', '/b'], url = '.url' }").Page)
	for _, c := range []struct{ a, b, want string }{
		{`{"url":"ws://elsewhere:1/x?y=1"}`, `{}`, "/x?y=1"},
		{`{"url":null}`, `{"url":"/z"}`, "/z"},
		{`{}`, `{"url":"ws://h/z"}`, "/z"},
		{`{}`, `{}`, "unreachable: the server returned no WebSocket URL"},
		{`{"url":"ws://h"}`, `{}`, "protocol: the response to GET /a has no WebSocket URL"},
		{`{"url":"%zz"}`, `{}`, "protocol: the response to GET /a has no WebSocket URL"},
		{`{"url":7}`, `{"url":"ws://h/z"}`, "/z"},
		{`{`, `{}`, "protocol: the response to GET /a is not JSON: unexpected end of JSON at byte 1"},
		{`{}`, ``, "failed: GET /b"},
		{`7`, `{}`, "helper: the dialect's program x.toml: http.resolve.url (.url): jq: expected an object but got: number (7)"},
	} {
		path := ""
		at, err := find(func(path string) ([]byte, error) {
			if path == "/b" && c.b == "" {
				return nil, errors.New("GET /b")
			}
			return []byte(map[string]string{"/a": c.a, "/b": c.b}[path]), nil
		})
		if err == nil {
			path = at.RequestURI()
		} else if f := wire.AsFault(err); f != nil {
			path += string(f.Kind) + ": " + f.Message
		} else {
			path += "failed: " + err.Error()
		}
		if path != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.a, c.b, path, c.want)
		}
	}
}

// Methods have other names in another dialect.
func TestBridging(t *testing.T) {
	b := dialectOf(t, "").Bridging()
	if b.Name != nil || b.Objects || b.NoStreams || b.Client.Begins || b.Own != nil {
		t.Errorf("%+v", b)
	}
	b = dialectOf(t, `
[[greet]]
await = '.a'
[[greet]]
call = 'hi'
[[greet]]
notify = 'there'
[bridge]
objects = true
whole = true
name = 'if . == "none" then empty elif . == "number" then 7 elif . == "bad" then error("x") elif . == "empty" then "" else . + "!" end'
[serve]
first = 'hi'
`).Bridging()
	if !b.Objects || !b.NoStreams || !b.Client.Begins || !slices.Equal(b.Own, []string{"hi", "there"}) {
		t.Errorf("%+v", b)
	}
	for name, want := range map[string]string{"a": "a!", "none": "none", "number": "number", "bad": "bad", "empty": "empty"} {
		if got := b.Name(name); got != want {
			t.Errorf("%s is offered as %s, want %s", name, got, want)
		}
	}
}

// The dialect file's own notifications need no hook. An exact name in subscribe takes precedence over patterns.
func TestMethodsOfADialectFile(t *testing.T) {
	d := dialectOf(t, "[during]\nprogress = { method = 'p.*' }\nlog = { method = 'l' }\nitems = { method = 'i' }\n[subscribe.'a.*']\nitem = { method = 'x' }\n[subscribe.'a.b']\nitem = { method = 'y' }\n[subscribe.'*']\nitem = { method = 'z' }")
	for method, want := range map[string]bool{"p.a": true, "l": true, "i": true, "p": false, "x": false, "work": false, "": false} {
		if d.Notifies(method) != want {
			t.Errorf("%s: %v", method, !want)
		}
	}
	d.native.Notification = "work"
	if !d.Notifies("work") {
		t.Error("a notification for the flow needs a hook")
	}
	for method, want := range map[string]string{"a.b": "a.b y", "a.c": "* z", "b": "* z"} {
		name, rule := d.Subscription(method)
		if got := name + " " + rule.Item.Method; got != want {
			t.Errorf("%s: %s, want %s", method, got, want)
		}
	}
	if name, rule := dialectOf(t, "").Subscription("a"); name != "" || rule != nil {
		t.Errorf("%s, %v", name, rule)
	}
}

// The id has a place in the params of a cancel.
func TestCancelTarget(t *testing.T) {
	for _, c := range []struct{ page, params, want string }{
		{"", `{"id":7}`, ""},
		{"[cancel]\nnotify = 'c'", `{"id":7}`, ""},
		{"[cancel]\nnotify = 'c'\nparams = '{requestId: $id}'", `{"requestId":7}`, "7"},
		{"[cancel]\nnotify = 'c'\nparams = '{a: 1, requestId: $id}'", `{"a":7}`, ""},
		{"[cancel]\nnotify = 'c'\nparams = '[$id]'", `["x"]`, `"x"`},
		{"[cancel]\nnotify = 'c'\nparams = '[1, $id]'", `["x",8]`, "8"},
		{"[cancel]\nnotify = 'c'\nparams = '[1, $id]'", `["x"]`, ""},
		{"[cancel]\nnotify = 'c'\nparams = '{a: [$id]}'", `{"a":[7]}`, ""},
		{"[cancel]\nnotify = 'c'\nparams = 'error(\"x\")'", `[7]`, ""},
	} {
		at, _ := dialectOf(t, c.page).target()
		var got string
		if at != "" {
			got = string(envelope.Below([]byte(c.params), at))
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.page, c.params, got, c.want)
		}
	}
}

// A notification of progress is claimed if its call is running or has ended. If the place of the token is unknown, because a server's
// program fails for an event that it does not know, only a running call claims it.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		params string // the program of a server for progress
		token  string // in the notification; only the calls 1, which has ended, and 2 have one
		want   bool
	}{
		{"{t: $token}", "1", true},
		{"{t: $token}", "2", true},
		{"{t: $token}", "3", false},
		{"{t: $token} | error(\"x\")", "1", false},
		{"{t: $token} | error(\"x\")", "2", true},
	} {
		codec := dialectOf(t, "[during]\ntoken = '{t: $token}'\nprogress = { method = 'p', when = '.t == $token' }\n"+
			"[serve.during]\nprogress = { method = 'p', params = '"+c.params+"' }").newCodec(dialect.CodecOptions{})
		for range 2 {
			_, err := codec.Encode(dialect.Op{Kind: dialect.Call, Method: "m"})
			testkit.OK(t, err)
		}
		_, _, err := codec.Decode([]byte(`{"jsonrpc":"2.0","id":1,"result":1}`))
		testkit.OK(t, err)
		msgs, _, err := codec.Decode([]byte(`{"jsonrpc":"2.0","method":"p","params":{"t":` + c.token + `}}`))
		if err != nil || len(msgs) == 0 || msgs[0].Claimed != c.want {
			t.Errorf("%s for %s: %+v, %v; want %v", c.params, c.token, msgs, err, c.want)
		}
	}
}

// The handshake keeps a bounded number of messages, of a bounded size, for later steps.
func TestKeptMessagesAreBounded(t *testing.T) {
	d := dialectOf(t, "[[greet]]\nawait = '.method == \"last\"'")
	add := func(c *Codec, msg string) { _, _, _ = c.Decode([]byte(msg)) }
	is := program.New(`.method == "last"`)
	const small, large, last = 32, 8 << 10, len(`{"method":"last"}`)
	for _, some := range []struct {
		each, total int // in bytes
		found       bool
	}{
		{small, (maxAwaited - 1) * small, true},
		{small, maxAwaited * small, false},
		{large, maxAwaitedBytes - last, true},
		{large, maxAwaitedBytes - last + 1, false},
	} {
		c := d.newCodec(dialect.CodecOptions{})
		for left := some.total; left > 0; left -= some.each {
			add(c, `{"method":"m","params":["`+strings.Repeat("x", min(left, some.each)-len(`{"method":"m","params":[""]}`))+`"]}`)
		}
		add(c, `{"method":"last"}`)
		got, err := c.find(is)
		if err != nil || got != nil != some.found {
			t.Errorf("after %d bytes in messages of %d: %s, %v", some.total, some.each, got, err)
		}
		if again, err := c.find(is); again != nil || err != nil {
			t.Errorf("the message was found twice: %s, %v", again, err)
		}
	}
	c := d.newCodec(dialect.CodecOptions{Serving: true})
	if add(c, `{"method":"last"}`); len(c.awaited.messages) > 0 {
		t.Error("a server stores messages")
	}
	c = d.newCodec(dialect.CodecOptions{})
	c.endAwaiting()
	if add(c, `{"method":"last"}`); c.awaited != nil {
		t.Error("a message after the handshake is stored")
	}
	c = d.newCodec(dialect.CodecOptions{})
	if add(c, `{"jsonrpc":"2.0","id":1,"result":1}`); len(c.awaited.messages) > 0 {
		t.Error("a response is stored")
	}
}

// Objects are merged at any depth. Other values are replaced.
func TestMerged(t *testing.T) {
	for _, c := range []struct{ obj, more, want string }{
		{``, `{"a":1}`, `{"a":1}`},
		{`7`, `{"a":1}`, `{"a":1}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{"a":1,"b":2}`, `{"c":3,"a":4}`, `{"a":4,"b":2,"c":3}`},
		{`{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a":{"x":1,"y":2}}`},
		{`{"a":{"x":1}}`, `{"a":5}`, `{"a":5}`},
		{`{"a":5}`, `{"a":{"x":1}}`, `{"a":{"x":1}}`},
		{`{"a":[1]}`, `{"a":null}`, `{"a":null}`},
	} {
		if got := string(Merged([]byte(c.obj), []byte(c.more))); got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.obj, c.more, got, c.want)
		}
	}
}

// The descriptions of a method in several lists complement each other, and so does information about the peer.
func TestJoined(t *testing.T) {
	for _, c := range []struct{ first, more, joined, info string }{
		{`{"a":1}`, `{"a":[2],"b":3,"c":null}`, `{"a":1,"b":3}`, `{"a":1}`},
		{`{"a":{"x":1}}`, `{"a":{"x":2,"y":[]}}`, `{"a":{"x":1,"y":[]}}`, `{"a":{"x":1}}`},
		{`{"a":[1, {"x":1}]}`, `{"a":[2,{"x": 1},1]}`, `{"a":[1,{"x":1},2]}`, `{"a":[1, {"x":1}]}`},
		{`{"a":[1]}`, `{"a":{}}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"name":"n"}`, `{"name":"m","version":"v","extra":{},"description":7,"other":"o"}`, `{"name":"n","version":"v","extra":{},"description":7,"other":"o"}`, `{"name":"n","version":"v","extra":{}}`},
	} {
		if got := string(joined(json.RawMessage(c.first), json.RawMessage(c.more))); got != c.joined {
			t.Errorf("%s with %s: %s, want %s", c.first, c.more, got, c.joined)
		}
		if got := string(withInfo(json.RawMessage(c.first), json.RawMessage(c.more))); got != c.info {
			t.Errorf("%s with %s: the info is %s, want %s", c.first, c.more, got, c.info)
		}
	}
}

// A header has a value in ASCII without outer spaces, or in Base64.
func TestHeaderValue(t *testing.T) {
	for text, want := range map[string]string{"": "", "a b~": "a b~", " a": "=?base64?IGE=?=", "a\x7f": "=?base64?YX8=?=", "\t": "=?base64?CQ==?=", "é": "=?base64?w6k=?=", "=?base64?x": "=?base64?x", "=?base64?eA==?=": "=?base64?PT9iYXNlNjQ/ZUE9PT89?="} {
		if got := HeaderValue(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// -v shows the beginning of a value.
func TestShown(t *testing.T) {
	if got := shown([]byte(strings.Repeat("x", 500))); got != strings.Repeat("x", 500) {
		t.Error(got)
	}
	if got := shown([]byte(strings.Repeat("x", 501))); got != strings.Repeat("x", 500)+"…" {
		t.Error(got)
	}
	var lines []string
	c := dialectOf(t, "[call]\nmethod = '\"do\"'\nparams = '[$method]'\nresult = '.r'").newCodec(dialect.CodecOptions{Trace: func(s string) { lines = append(lines, s) }})
	m, err := c.Encode(dialect.Op{Kind: dialect.Call, Method: "m"})
	testkit.OK(t, err)
	if _, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"r":5}}`)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lines, "; "); got != `x: m is sent as do ["m"]; x: the response to m is 5` {
		t.Error(got)
	}
}

// -v shows how a [[read]] rule reads a message, even if the dialect file has no streams, handshake or cancel.
func TestReadRulesAreTraced(t *testing.T) {
	for _, also := range []string{"", "[cancel]\nnotify = 'c'\nparams = '[$id]'\n"} {
		var lines []string
		d := dialectOf(t, also+"[[read]]\nwhen = '.say'\nkind = 'notification'\nmethod = '.say'\nparams = '.to'\n[[read]]\nwhen = '.bad'\nkind = 'response'\nid = '.i'\nerror = '.bad'")
		c := d.newCodec(dialect.CodecOptions{Trace: func(s string) { lines = append(lines, s) }})
		for _, msg := range []string{`{"say":"hello","to":[1]}`, `{"jsonrpc":"2.0","method":"other"}`} {
			if msgs, _, err := c.Decode([]byte(msg)); err != nil || len(msgs) != 1 || msgs[0].Kind != wire.Notification {
				t.Fatalf("%s: %+v, %v", msg, msgs, err)
			}
		}
		if _, _, err := c.Decode([]byte(`{"bad":"oh","i":7}`)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(lines, "; "); got != `x: a message is read as notification hello: [1]; x: a message is read as response 7: "oh"` {
			t.Errorf("%q: %q", also, got)
		}
	}
}

// The value of a header is a short string of printable ASCII.
func TestSayable(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "x": true, " ~": true, "\x1f": false, "\x7f": false, "é": false, strings.Repeat("x", 256): true, strings.Repeat("x", 257): false,
	} {
		if isHeaderValue(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// A cancelled request gets no response, or an error with the dialect file's code. A new request with the same id gets a response.
func TestDropped(t *testing.T) {
	none := dialectOf(t, "[cancel]\nnotify = 'c'\nparams = '[$id]'\nanswer = 'none'")
	coded := dialectOf(t, "[cancel]\nnotify = 'c'\nparams = '[$id]'\nanswer = -5")
	for _, c := range []struct {
		d    *Dialect
		ev   wire.Event
		want string
	}{
		{none, wire.Event{Kind: wire.Data, Data: json.RawMessage("1")}, ""},
		{none, wire.Event{Kind: wire.Failure, Err: wire.NewError(-32800, "cancelled")}, ""},
		{coded, wire.Event{Kind: wire.Failure, Err: wire.NewError(-32800, "cancelled")}, `{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"cancelled"}}`},
		{coded, wire.Event{Kind: wire.Failure, Err: wire.NewError(3, "three")}, `{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"three"}}`},
		{coded, wire.Event{Kind: wire.Data, Data: json.RawMessage("1")}, `{"jsonrpc":"2.0","id":1,"result":1}`},
	} {
		codec := c.d.newCodec(dialect.CodecOptions{Serving: true})
		msgs, _, _ := codec.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		req := msgs[0].Clone()
		msgs, _, _ = codec.Decode([]byte(`{"jsonrpc":"2.0","method":"c","params":[1]}`))
		if len(msgs) != 1 || msgs[0].Kind != wire.Cancel || string(msgs[0].Target) != "1" {
			t.Errorf("%+v", msgs)
		}
		got, err := codec.Reply(req, c.ev)
		if s := string(slices.Concat(got...)); err != nil || s != c.want {
			t.Errorf("got %s, want %s, %v", s, c.want, err)
		}
		_, _, _ = codec.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		if got, _ := codec.Reply(req, wire.Event{Kind: wire.Data, Data: json.RawMessage("2")}); len(got) != 1 {
			t.Error("a new request with that id gets no response")
		}
	}
}

// A value that is stored while the params of a request are computed is in the params of the next request.
func TestCommonParamsAreNotStale(t *testing.T) {
	c := dialectOf(t, "[requests]\nparams = '{n: .n, sum: ([range(100)] | add)}'").newCodec(dialect.CodecOptions{})
	done := make(chan struct{})
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for !wire.IsClosed(done) {
				_, _ = c.commonParams("m", nil)
			}
		})
	}
	for i := range 2000 {
		n := strconv.Itoa(i)
		c.Keep(json.RawMessage(`{"n":` + n + `}`))
		for range 3 {
			if got, err := c.commonParams("m", nil); err != nil || string(scan.Get(got, "n")) != n {
				t.Fatalf("%s, %v: not n %s", got, err, n)
			}
		}
	}
	close(done)
	others.Wait()
}

// A codec stores a bounded number of calls and of cancelled requests, and requests a bounded number of pages.
func TestBoundsOfACodec(t *testing.T) {
	d := dialectOf(t, "[call]\nplain = '. == \"p\"'\nmethod = '\"do\"'\nparams = '{}'\nresult = '.'")
	c := d.newCodec(dialect.CodecOptions{})
	for range maxCalls {
		if _, err := c.Encode(dialect.Op{Kind: dialect.Call, Method: "p"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.calls) != maxCalls {
		t.Errorf("%d calls are stored", len(c.calls))
	}
	if _, err := c.Encode(dialect.Op{Kind: dialect.Call, Method: "p"}); err != nil || len(c.calls) != 1 {
		t.Errorf("one more: %d calls are stored, %v", len(c.calls), err)
	}
	if !dialectOf(t, "").Plain("m") {
		t.Error("a call is wrapped without a rule")
	}
	server := dialectOf(t, "[cancel]\nnotify = 'c'\nparams = '[$id]'\nanswer = 'none'").newCodec(dialect.CodecOptions{Serving: true})
	for i := range 1025 {
		if i == 1024 && len(server.dropped) != 1024 {
			t.Errorf("%d cancelled requests are stored", len(server.dropped))
		}
		_, _, _ = server.Decode([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","method":"c","params":[%d]}`, i)))
	}
	if len(server.dropped) != 1 {
		t.Errorf("one more: %d cancelled requests are stored", len(server.dropped))
	}
	n := 0
	err := c.Pages("list", func(json.RawMessage) (json.RawMessage, error) {
		n++
		return json.RawMessage(strconv.Itoa(n)), nil
	})
	if n != maxPages || err == nil || err.Error() != fmt.Sprintf("the list has more than %d pages", maxPages) {
		t.Errorf("%d pages: %v", n, err)
	}
}

// A stream may never end if no rule defines its end.
func TestStreamsThatEnd(t *testing.T) {
	const stream = "[subscribe.a]\nitem = { method = 'i' }\n"
	for page, want := range map[string]bool{
		stream:                     true,
		stream + "until = '.last'": false,
		stream + "[[read]]\nwhen = '.x'\nkind = 'item'\nid = '.x'\nresult = '.'":                  true,
		stream + "[[read]]\nwhen = '.x'\nkind = 'response'\nid = '.x'\nfinal = '.last'":           true,
		stream + "[[read]]\nwhen = '.x'\nkind = 'item'\nid = '.x'\nresult = '.'\nfinal = '.last'": false,
	} {
		if streams, endless := dialectOf(t, page).opens("a"); !streams || endless != want {
			t.Errorf("%s: %v, %v", page, streams, endless)
		}
	}
	for page, want := range map[string]bool{"": true, stream: false, "[write]\nevent = '.'": false, "[names]\nresponse = { more = 'm' }": false, "[names]\nrequest = { method = 'm' }": true} {
		if dialectOf(t, page).gathers("a") != want {
			t.Errorf("%s: the items are gathered: %v", page, !want)
		}
	}
}

// closed is a connection that has ended.
type closed struct{ dialect.Caller }

func (closed) Connection() *dialect.Connection { return &dialect.Connection{} }
func (closed) Open(context.Context, dialect.Op) (dialect.Stream, error) {
	return nil, wire.NewFault(wire.Closed, "connection closed", nil)
}

// open is a connection that stays silent.
type open struct{ closed }

func (o open) Open(context.Context, dialect.Op) (dialect.Stream, error) { return o, nil }
func (open) Next(ctx context.Context) (wire.Message, error) {
	<-ctx.Done()
	return wire.Message{}, ctx.Err()
}
func (open) Cancel(context.Context) error { return nil }

// A handshake that waits for a message ends with the connection, or when it is cancelled.
func TestAwaitingEnds(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx    context.Context
		caller dialect.Caller
		want   string
	}{{t.Context(), closed{}, "connection closed, before the handshake"}, {cancelled, open{}, "context canceled"}} {
		for _, step := range []string{"await = '.hello'", "call = 'hi'\noptional = true\nwithin = '1h'"} {
			err := dialectOf(t, "[[greet]]\n"+step).newCodec(dialect.CodecOptions{}).Handshake(c.ctx, c.caller)
			if err == nil || !strings.HasPrefix(c.want, err.Error()) {
				t.Errorf("%s: %v, want %s", step, err, c.want)
			}
		}
	}
}
