package envelope

import (
	"fmt"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// planOf returns the plan of a dialect file without a base.
func planOf(tb testing.TB, text string) *Plan {
	tb.Helper()
	p, err := load.Parse("x.toml", []byte("name = 'x'\nbase = 'none'\n"+text))
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := Compile(p)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

func speaks(tb testing.TB, text string) dialect.Codec {
	tb.Helper()
	return New(planOf(tb, text), Options{})
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
		if said, ends := planOf(t, c.page).Ends([]byte(c.msg), &program.Scope{}); said != c.said || ends != c.ends {
			t.Errorf("%s: got %v, ends %v", c.msg, said, ends)
		}
	}
	if said, ends := (*Plan)(nil).Ends([]byte(`{}`), &program.Scope{}); said || ends {
		t.Error("a nil Plan must report nothing")
	}
}

// Outside of a conversation, a message has the kind and the id that it shows. Its id can be replaced.
func TestShape(t *testing.T) {
	const read = "[[read]]\nwhen = '.stop'\nkind = 'cancel'\nid = '.stop'\n[alive.client]\nis = '.beat'\n"
	s := planOf(t, read+"[names]\nrequest = { method = 'm', id = 'h.i' }\nresponse = { id = 'r', result = 'v' }\n").Shape()
	for _, c := range []struct{ msg, want, other string }{
		{`{"m":"a","h":{"i":1}}`, "request 1 a", `{"m":"a","h":{"i":9}}`},
		{`{"m":"a"}`, "notification  a", `{"m":"a"}`},
		{`{"m":"a","h":[1]}`, "notification  a", `{"m":"a","h":[1]}`},
		{`{"r":2,"v":1}`, "response 2 ", `{"r":9,"v":1}`},
		{`{"stop":1}`, "notification  ", `{"stop":1}`},
		{`{"v":1}`, "invalid  ", `{"v":1}`},
		{`{"beat":1}`, "notification  heartbeat", `{"beat":1}`},
		{`[{"m":"a"}]`, "invalid  ", `[{"m":"a"}]`},
		{`7`, "invalid  ", `7`},
	} {
		m := s.Read([]byte(c.msg))
		if got := m.Kind.String() + " " + string(m.ID) + " " + m.Method; got != c.want {
			t.Errorf("%s: %s, want %s", c.msg, got, c.want)
		}
		if got := string(s.SetID([]byte(c.msg), wire.ID("9"))); got != c.other {
			t.Errorf("%s with another id: %s", c.msg, got)
		}
	}
	unnumbered := planOf(t, read+"[names]\nids = 'none'\nrequest = { method = 'm' }\nresponse = { result = 'v' }\n")
	if unnumbered.Shape() != nil {
		t.Error("messages without ids have a shape")
	}
	for msg, want := range map[string]string{`{"m":"a"}`: "request null", `{"v":1}`: "response null", `{"w":1}`: "response null", `{"stop":1}`: "notification "} {
		if m := unnumbered.Unnumbered()([]byte(msg)); m.Kind.String()+" "+string(m.ID) != want {
			t.Errorf("%s: %s %s", msg, m.Kind, m.ID)
		}
	}
}

// A client may take a server's error for a result, or not see its members.
func TestErrorsOfAPlan(t *testing.T) {
	const requests = "[names]\nrequest = { method = 'm', id = 'i' }\n"
	for _, c := range []struct {
		page              string
		taken, code, data bool
	}{
		{requests + "response = { id = 'i', result = 'v', error = 'e', code = 'e.c', message = 'e.m', data = 'e.d' }", false, true, true},
		{requests + "response = { id = 'i', result = 'v', error = 'e', message = 'e.m' }", false, false, false},
		{requests + "response = { id = 'i', result = 'v' }", true, false, false},
		{requests + "response = { id = 'i', result = 'v' }\n[call]\nmethod = '.'\nparams = '.'\nresult = '.'\nerror = '.e'", false, false, false},
		{requests + "response = { id = 'i', result = 'v', error = 'e', message = 'e.m' }\n[write]\nerror = 'error(\"E\")'", false, false, false},
		{requests + "response = { id = 'i', result = 'v', error = 'e', message = 'e.m' }\n[write]\nerror = '[]'", false, false, false},
		{requests + "response = { id = 'i', result = 'v', error = 'e', message = 'e.m' }\n[write]\nrequest = 'error(\"E\")'", false, false, false},
	} {
		plan := planOf(t, c.page)
		if code, data := plan.ErrorMembers(); plan.TakesErrors() != c.taken || code != c.code || data != c.data {
			t.Errorf("%s: takes errors for results: %v; code %v, data %v", c.page, !c.taken, code, data)
		}
	}
}

// A plan reads at most 24 top-level members.
func TestMostMembers(t *testing.T) {
	for n, fits := range map[int]bool{maxHeads - 2: true, maxHeads - 1: false} {
		var consts []string
		for i := range n {
			consts = append(consts, fmt.Sprintf("c%d = 1", i))
		}
		p, err := load.Parse("x.toml", []byte("name = 'x'\nbase = 'none'\n[names]\nrequest = { method = 'm', id = 'i', const = { "+strings.Join(consts, ", ")+" } }\n"))
		testkit.OK(t, err)
		if _, err := Compile(p); (err == nil) != fits {
			t.Errorf("%d members: %v", n+2, err)
		}
	}
}
