package envelope

import (
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

func speaks(tb testing.TB, text string) dialect.Codec {
	tb.Helper()
	p, err := load.Parse("x.toml", []byte("name = 'x'\nbase = 'none'\n"+text))
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := Compile(p)
	if err != nil {
		tb.Fatal(err)
	}
	return New(plan, Options{})
}

// FuzzDecode checks that messages are parts of the input.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"seq":1,"type":"response","request_seq":1,"success":false,"command":"x","message":"m","body":{"error":{"id":1}}}`,
		`{"seq":2,"type":"event","event":"stopped","body":null}`, `{"type":"request","command":"c","seq":{}}`,
		`{"type":"request","command":7}`, `[{"type":"event"}]`, `[]`, `7`, `{"type":"request","command":"é","seq":1e400}`, "{\"a\":\xff}", `{} {}`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := speaks(t, `
[names]
request = { method = "command", params = "arguments", id = "seq", const = { type = "request" } }
response = { id = "request_seq", result = "body", code = "body.error.id", message = "message", const = { type = "response" } }
event = { method = "event", params = "body.0", const = { type = "event" } }
ok = { at = "success", is = true }
batches = true
[[read]]
when = ".odd?"
kind = "notification"
method = ".odd"
params = "."
`)
		msgs, _, err := c.Decode(raw)
		for _, m := range msgs {
			if m.Kind == wire.Request && len(m.ID) == 0 {
				t.Errorf("a request without an id: %s", raw)
			}
			if _, eerr := dialect.EventOf(c, m); eerr != nil {
				t.Error(eerr)
			}
			if m.Kind == wire.Request {
				out, rerr := c.Reply(m, wire.Event{Kind: wire.Data, Data: []byte("1")})
				if rerr != nil || len(out) != 1 || scan.Valid(out[0], wire.DefaultMaxDepth) != nil {
					t.Errorf("%s: got the response %s, %v", raw, out, rerr)
				}
			}
		}
		if err == nil && len(msgs) == 0 {
			t.Errorf("%q: no message and no error", raw)
		}
	})
}

// The rule that matches a response decides whether more responses follow. Otherwise the dialect decides.
func TestResponsesThatContinue(t *testing.T) {
	const page = "[write]\nrequest = '{$method, i: $id}'\n[[read]]\nwhen = '.r'\nkind = 'response'\nid = '.i'\nresult = '.r'\nfinal = '.last'\n[[read]]\nwhen = '.e'\nkind = 'response'\nid = '.i'\nresult = '.e'\n"
	for _, c := range []struct {
		page, msg  string
		said, ends bool
	}{
		{page, `{"i":1,"r":1,"last":true}`, true, true},
		{page, `{"i":1,"r":1,"last":false}`, true, false},
		{page, `{"i":1,"r":1}`, true, false},
		{page, `{"i":1,"e":1,"last":true}`, false, false},
		{page, `{"i":1,"x":1,"last":true}`, false, false},
		{"[names]\nrequest = { method = 'm' }\nresponse = { result = 'r' }", `{"i":1,"r":1,"last":true}`, false, false},
	} {
		p, err := load.Parse("x.toml", []byte("name = 'x'\nbase = 'none'\n"+c.page))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		if said, ends := plan.Ends([]byte(c.msg), &program.Scope{}); said != c.said || ends != c.ends {
			t.Errorf("%s: got %v, ends %v", c.msg, said, ends)
		}
	}
	if said, ends := (*Plan)(nil).Ends([]byte(`{}`), &program.Scope{}); said || ends {
		t.Error("a nil Plan must report nothing")
	}
}
