package tapeview

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/schema"
	"rpcx/wire/tape"
	"rpcx/wire/testkit"
)

func har(t *testing.T, r *tape.Reader, o Options) harFile {
	t.Helper()
	var b bytes.Buffer
	testkit.OK(t, HAR(context.Background(), &b, r, "1.0.0", o))
	doc, err := os.ReadFile("testdata/har-1.2.schema.json")
	testkit.OK(t, err)
	s, err := schema.Compile(doc, "", schema.Options{})
	testkit.OK(t, err)
	if err := s.Check(context.Background(), b.Bytes()); err != nil {
		t.Errorf("not HAR 1.2: %v in\n%s", err, b.String())
	}
	var f harFile
	testkit.OK(t, json.Unmarshal(b.Bytes(), &f))
	return f
}

func TestHAROfHTTP(t *testing.T) {
	entries := har(t, open(t, "http.tape"), Options{}).Log.Entries
	if len(entries) != 3 {
		t.Fatalf("%d entries, want 3", len(entries))
	}
	add, watch, note := entries[0], entries[1], entries[2]
	for _, c := range []struct{ what, got, want string }{
		{"the request's body", add.Request.Post.Text, `{"jsonrpc":"2.0","id":1,"method":"add","params":[1,2]}`},
		{"the response's body", add.Response.Content.Text, `{"jsonrpc":"2.0","id":1,"result":3}`},
		{"the type of the response", add.Response.Content.Type, "application/json; charset=utf-8"},
		{"the query", add.Request.Query[1].Name + "=" + add.Request.Query[1].Value, "b=" + redact.Mark},
		{"a secret header", add.Request.Headers[1].Value, redact.Mark},
		{"a cookie", add.Response.Headers[1].Value, redact.Mark},
		{"the start", add.Started, "2026-11-22T10:00:00.002Z"},
		{"the address", add.Remote, "127.0.0.1"},
		{"a relative URL", watch.Request.URL, "http://127.0.0.1:8080/rpc"},
		{"the second request's body", watch.Request.Post.Text, `{"jsonrpc":"2.0","id":2,"method":"watch","params":[]}`},
		{"an event stream", watch.Response.Content.Text, "data: {\"jsonrpc\":\"2.0\",\"method\":\"tick\",\"params\":{\"n\":1}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"over\"}\n\n"},
		{"an IPv6 address", watch.Remote, "::1"},
		{"a failure", note.Response.Error, "connection refused"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, c.got, c.want)
		}
	}
	if watch.Timings.SSL != 2 || watch.Timings.Connect != 3 || watch.Timings.Wait != 6 || watch.Timings.Receive != 18 || watch.Time != 27 || add.Timings.SSL != -1 {
		t.Errorf("timings: %+v, time %v", watch.Timings, watch.Time)
	}
	if add.Request.BodySize != len(add.Request.Post.Text) || add.Response.Content.Size != len(add.Response.Content.Text) || add.Response.StatusText != "OK" {
		t.Errorf("sizes and status: %+v, %+v", add.Request, add.Response)
	}
	if note.Response.Status != 0 {
		t.Errorf("status %d of a request without a response", note.Response.Status)
	}
}

func TestHAROfWebSocket(t *testing.T) {
	entries := har(t, open(t, "orders.tape"), Options{}).Log.Entries
	if len(entries) != 1 {
		t.Fatalf("%d entries, want 1", len(entries))
	}
	e := entries[0]
	if e.Type != "websocket" || e.Response.Status != 101 || e.Request.URL != "ws://127.0.0.1:9000/rpc" || len(e.Messages) != 21 {
		t.Errorf("%s %d %s with %d messages", e.Type, e.Response.Status, e.Request.URL, len(e.Messages))
	}
	first := e.Messages[0]
	if first.Type != "send" || first.Time != 1795341600.002 || strings.Contains(first.Data, "hunter2") {
		t.Errorf("the first message: %+v", first)
	}
}

func TestHAROfUpgradesAndBytes(t *testing.T) {
	r := read(t, `{"tape":1,"dialect":"jsonrpc","started":"2026-11-22T10:00:00Z"}
{"t":0.1,"conn":1,"http":{"method":"GET","url":"wss://user:pass@host/a","status":101,"times":{"start":0.05}}}
{"t":0.2,"conn":1,"dir":"recv","base64":"/wA="}
{"t":0.3,"conn":2,"http":{"method":"GET","url":"https://host/b","status":101,"times":{"start":0.25}}}
{"t":0.4,"conn":2,"dir":"send","msg":{"method":"x"}}
{"t":0.5,"conn":1,"close":{"code":1000}}
{"t":0.6,"conn":3,"open":{"endpoint":"ws://host/c"}}
`)
	entries := har(t, r, Options{}).Log.Entries
	if len(entries) != 3 || entries[2].Request.URL != "ws://host/c" || len(entries[0].Messages) != 1 || len(entries[1].Messages) != 1 {
		t.Fatalf("%+v", entries)
	}
	if m := entries[0].Messages[0]; m.Opcode != 2 || m.Data != "/wA=" {
		t.Errorf("bytes: %+v", m)
	}
	if u := entries[1].Request.URL; u != "wss://host/b" {
		t.Errorf("the URL of the second: %s", u)
	}
	if u := entries[0].Request.URL; strings.Contains(u, "pass") {
		t.Errorf("a password in %s", u)
	}
}

// On a tape without HTTP exchanges, each message becomes an exchange.
func TestHAROfMessagesAlone(t *testing.T) {
	r := read(t, `{"tape":1,"endpoint":"jsonrpc+http+unix:/run/x.sock:/rpc"}
{"t":0.1,"dir":"send","msg":{"id":1,"method":"a"}}
{"t":0.2,"dir":"recv","msg":{"id":1,"result":1}}
{"t":0.3,"dir":"send","msg":{"method":"b"}}
`)
	entries := har(t, r, Options{}).Log.Entries
	if len(entries) != 2 || entries[0].Request.URL != "http://unix.invalid/rpc" || entries[0].Response.Content.Text != `{"id":1,"result":1}` || entries[1].Response.Status != 204 {
		t.Errorf("%+v", entries)
	}
}

// On a tape without HTTP exchanges, a received message belongs to the call with its id, or else to the latest answered call.
func TestHAROfAnswersInAnotherOrder(t *testing.T) {
	r := read(t, `{"tape":1,"endpoint":"http://127.0.0.1:8080/rpc"}
{"t":0,"dir":"recv","msg":{"method":"before"}}
{"t":0.1,"dir":"send","msg":{"id":1,"method":"a"}}
{"t":0.2,"dir":"send","msg":{"id":2,"method":"b"}}
{"t":0.3,"dir":"send","msg":{"id":3,"method":"c"}}
{"t":0.4,"dir":"recv","msg":{"id":2,"result":"B"}}
{"t":0.5,"dir":"recv","msg":{"method":"tick"}}
{"t":0.6,"dir":"recv","msg":{"id":1,"result":"A"}}
{"t":0.7,"dir":"recv","msg":{"id":2,"result":"twice"}}
`)
	type exchange struct {
		sent, came    string
		wait, receive float64
		status        int
	}
	want := []exchange{
		{`{"id":1,"method":"a"}`, `{"id":1,"result":"A"}`, 500, 0, 200},
		{`{"id":2,"method":"b"}`, `{"id":2,"result":"B"}` + "\n" + `{"method":"tick"}` + "\n" + `{"id":2,"result":"twice"}`, 200, 300, 200},
		{`{"id":3,"method":"c"}`, ``, 0, 0, 204},
	}
	var got []exchange
	for _, e := range har(t, r, Options{}).Log.Entries {
		got = append(got, exchange{e.Request.Post.Text, e.Response.Content.Text, e.Timings.Wait, e.Timings.Receive, e.Response.Status})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestHARNeedsHTTP(t *testing.T) {
	r := read(t, `{"tape":1,"endpoint":"exec:./plugin"}
{"dir":"send","msg":{"id":1,"method":"a"}}
`)
	err := HAR(context.Background(), &bytes.Buffer{}, r, "", Options{})
	if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage {
		t.Errorf("got %v", err)
	}
}

// Events belong to the exchange whose response carried them: a POST, or the GET for the event stream.
func TestHAROfEvents(t *testing.T) {
	const stream, object = `"response":[["Content-Type","text/event-stream"]]`, `"response":[["Content-Type","application/json"]]`
	text := `{"tape":1,"endpoint":"http://h/","dialect":"mcp"}
{"t":0.1,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"initialize"}}
{"t":0.2,"http":{"method":"POST","url":"http://h/","status":200,` + object + `,"times":{"start":0.1}}}
{"t":0.21,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":{}}}
{"t":0.3,"http":{"method":"GET","url":"http://h/","status":200,` + stream + `,"times":{"start":0.25}}}
{"t":0.4,"dir":"send","msg":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"t":0.41,"http":{"method":"POST","url":"http://h/","status":202,"times":{"start":0.4}}}
{"t":0.5,"dir":"recv","msg":{"jsonrpc":"2.0","method":"get-1"}}
{"t":0.6,"dir":"send","msg":{"jsonrpc":"2.0","id":2,"method":"tools/call"}}
{"t":0.61,"http":{"method":"POST","url":"http://h/","status":200,` + stream + `,"times":{"start":0.6}}}
{"t":0.7,"dir":"recv","msg":{"jsonrpc":"2.0","method":"post-1"}}
{"t":0.71,"dir":"recv","msg":{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"}}
{"t":0.72,"dir":"send","msg":{"jsonrpc":"2.0","id":7,"result":{}}}
{"t":0.73,"http":{"method":"POST","url":"http://h/","status":202,"times":{"start":0.72}}}
{"t":0.74,"dir":"recv","msg":{"jsonrpc":"2.0","method":"post-2"}}
{"t":0.8,"dir":"recv","msg":{"jsonrpc":"2.0","id":2,"result":{}}}
{"t":0.9,"dir":"recv","msg":{"jsonrpc":"2.0","method":"get-2"}}
`
	want := func(text string, texts ...string) {
		t.Helper()
		entries := har(t, read(t, text), Options{}).Log.Entries
		var got []string
		for _, e := range entries {
			var names []string
			for _, word := range []string{"get-1", "get-2", "post-1", "post-2", "createMessage", `"result"`} {
				if strings.Contains(e.Response.Content.Text, word) {
					names = append(names, word)
				}
			}
			got = append(got, e.Request.Method+" "+strings.Join(names, " "))
		}
		if !slices.Equal(got, texts) {
			t.Errorf("%q", got)
		}
	}
	want(text, `POST "result"`, "GET get-1 get-2", "POST ", `POST post-1 post-2 createMessage "result"`, "POST ")
	var without []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, `"GET"`) {
			without = append(without, line)
		}
	}
	want(strings.Join(without, ""), `POST "result"`, "POST ", "GET get-1 get-2", `POST post-1 post-2 createMessage "result"`, "POST ")
}
