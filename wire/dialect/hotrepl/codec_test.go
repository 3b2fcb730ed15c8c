package hotrepl

import (
	"encoding/json"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// events decodes a response to eval or job_status, and returns its events.
func events(t *testing.T, answer string) string {
	t.Helper()
	c := NewCodec(dialect.CodecOptions{})
	m, err := c.Encode(dialect.Op{Kind: dialect.Eval, Method: "eval", Code: "x"})
	testkit.OK(t, err)
	if strings.Contains(answer, `"jobId"`) {
		c.(*codec).sent[string(m.ID)] = sent{kind: typeStatus}
	}
	msgs, _, err := c.Decode([]byte(strings.ReplaceAll(answer, "ID", string(m.ID))))
	if err != nil {
		return "end: " + err.Error()
	}
	var all []string
	for _, m := range msgs {
		ev, err := dialect.EventOf(c, m)
		testkit.OK(t, err)
		all = append(all, m.Kind.String()+" "+string(ev.AppendJSON(nil)))
	}
	return strings.Join(all, "\n")
}

// decoded returns the only message in text, and its event.
func decoded(t *testing.T, c dialect.Codec, text string) (wire.Message, wire.Event) {
	t.Helper()
	msgs, _, err := c.Decode([]byte(text))
	if err != nil || len(msgs) != 1 {
		t.Fatalf("%s: %+v, %v", text, msgs, err)
	}
	ev, err := dialect.EventOf(c, msgs[0])
	testkit.OK(t, err)
	return msgs[0], ev
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a null that was left out", `{"type":"eval_result","id":ID,"hasValue":true}`, `response {"event":"data","data":null}`},
		{"no value", `{"type":"eval_result","id":ID,"hasValue":false}`, `response {"event":"done"}`},
		{"digits", `{"type":"eval_result","id":ID,"hasValue":true,"value":12345678901234567890}`, `response {"event":"data","data":12345678901234567890}`},
		{
			"printed", `{"type":"eval_result","id":ID,"hasValue":true,"value":1,"stdout":"a\nb\n"}`,
			`item {"event":"log","level":"stdout","message":"a\nb"}` + "\n" + `response {"event":"data","data":1}`,
		},
		{
			"left out", `{"type":"eval_result","id":ID,"hasValue":true,"value":null,"truncated":true,"truncatedBytes":200000}`,
			`item {"event":"log","level":"warning","message":"the host truncated or omitted the value, which is too long (truncatedBytes 200000)"}` + "\n" +
				`response {"event":"data","data":null,"extra":{"truncated":true,"truncatedBytes":200000}}`,
		},
		{
			"a failed command for an error", `{"type":"command_result","id":ID,"status":"failed","artifacts":{},"error":{"kind":"unknown_command","code":"x","message":"no"},"durationMs":0}`,
			`response {"event":"error","code":"x","kind":"unknown_command","message":"no","extra":{"status":"failed","artifacts":{},"durationMs":0}}`,
		},
		{
			"an error for a failed command", `{"type":"error","id":ID,"error":{"kind":"odd","code":"y","message":"no","retryable":true,"details":[1]}}`,
			`response {"event":"error","code":"y","kind":"odd","message":"no","retryable":true,"data":[1]}`,
		},
		{"an error of nobody's", `{"type":"error","error":{"message":"no"}}`, `response {"event":"error","message":"no"}`},
		{"the same, as hosts have it that read no id", `{"type":"error","id":"","error":{"message":"no"}}`, `response {"event":"error","message":"no"}`},
		{"no envelope", `{"type":"eval_error","id":ID,"error":"no"}`, `response {"event":"error","message":"no"}`},
		{"nothing", `{"type":"eval_error","id":ID}`, `response {"event":"error","message":"the host reported a failure without a message"}`},
		{
			"a cancelled job", `{"type":"job_result","id":ID,"jobId":"j","state":"cancelled","status":"failed","artifacts":{},"durationMs":1,"error":{"kind":"cancelled","code":"jobCancelled","message":"no","retryable":false}}`,
			`response {"event":"error","code":"jobCancelled","kind":"cancelled","message":"no","retryable":false,"job":"j","extra":{"state":"cancelled","status":"failed","artifacts":{},"durationMs":1}}`,
		},
		{"how far a job is", `{"type":"job_status_result","id":ID,"jobId":"j","state":"running","progress":{"stage":"pack","fraction":0.5}}`, `response {"event":"progress","message":"pack","fraction":0.5,"data":{"stage":"pack","fraction":0.5},"job":"j","extra":{"state":"running"}}`},
		{"a job without a name", `{"type":"job_accepted","id":ID,"state":"running"}`, "invalid"},
		{"what answers another message", `{"type":"reset_result","id":ID,"success":true}`, "invalid"},
		{"a command that answers an eval", `{"type":"command_result","id":ID,"status":"ok","output":1,"artifacts":{},"durationMs":0}`, "invalid"},
		{"a tick that answers an eval", `{"type":"subscribe_result","id":ID,"seq":1,"hasValue":true,"value":1,"final":true,"durationMs":0}`, "invalid"},
		{
			"a job that failed in good order", `{"type":"job_result","id":ID,"jobId":"j","state":"failed","status":"ok","output":1,"artifacts":{},"durationMs":1}`,
			`response {"event":"error","message":"the host reported a failure without a message","job":"j","extra":{"state":"failed","status":"ok","output":1,"artifacts":{},"durationMs":1}}`,
		},
		{"another type", `{"type":"surprise","id":ID,"value":1}`, `notification {"event":"data","data":{"type":"surprise","id":ID,"value":1}}`},
		{"no JSON", `{"type":`, `invalid`},
		{"no type", `{"id":ID}`, `invalid`},
		{"evicted", `{"type":"session_evicted","reason":"displaced","by":{}}`, `end: session_evicted: another client has taken over the connection (displaced)`},
	} {
		got := events(t, tt.in)
		if i := strings.Index(got, `"id":"`); i >= 0 { // an id that the codec makes
			got = got[:i] + `"id":ID` + got[strings.Index(got[i+6:], `"`)+i+7:]
		}
		if got != tt.want && !(tt.want == "invalid" && strings.HasPrefix(got, "invalid ")) {
			t.Errorf("%s\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// A failed tick ends the watch only if it is final.
func TestTicks(t *testing.T) {
	c := NewCodec(dialect.CodecOptions{})
	m, _ := c.Encode(dialect.Op{Kind: dialect.Subscribe, Code: "x"})
	for in, want := range map[string]string{
		`{"type":"subscribe_result","id":ID,"seq":1,"hasValue":true,"value":1,"final":true}`: `final {"event":"data","data":1,"seq":1}`,
		`{"type":"subscribe_result","id":ID,"seq":1,"hasValue":false,"final":false}`:         `{"event":"progress","message":"no value","seq":1}`,
		`{"type":"subscribe_result","id":ID,"seq":2,"hasValue":false,"final":true}`:          `final {"event":"done","seq":2}`,
		`{"type":"subscribe_error","id":ID,"seq":2,"error":{"message":"no"},"final":false}`:  `{"event":"error","message":"no","seq":2,"extra":{"recoverable":true}}`,
		`{"type":"subscribe_error","id":ID,"seq":3,"error":{"message":"no"},"final":true}`:   `final {"event":"error","message":"no","seq":3}`,
	} {
		tick, ev := decoded(t, c, strings.ReplaceAll(in, "ID", string(m.ID)))
		got := string(ev.AppendJSON(nil))
		if tick.Final {
			got = "final " + got
		}
		if tick.Kind != wire.Item || string(tick.ID) != string(m.ID) || got != want {
			t.Errorf("got  %v %s %s\nwant %s", tick.Kind, tick.ID, got, want)
		}
	}
}

func TestUnsentMessages(t *testing.T) {
	c := NewCodec(dialect.CodecOptions{})
	for _, op := range []dialect.Op{
		{Kind: dialect.Call, Method: "x", Params: json.RawMessage(`[1]`)},
		{Kind: dialect.Notify, Method: "x"},
	} {
		if f := wire.AsFault(second(c.Encode(op))); f == nil || f.Kind != wire.Usage {
			t.Errorf("%+v", op)
		}
	}
	own := dialect.Op{Kind: dialect.Internal, Method: typeStatus}
	if _, err := c.Encode(dialect.Op{Kind: dialect.Cancel, Of: &own, OfID: wire.ID("1")}); err != wire.ErrUnsupported {
		t.Errorf("got %v", err)
	}
	if _, err := c.(*codec).Job(t.Context(), nil, dialect.Op{Kind: dialect.Call}); err != wire.ErrUnsupported {
		t.Errorf("a call is not a job operation: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestIDs(t *testing.T) {
	a, _ := NewCodec(dialect.CodecOptions{}).Encode(dialect.Op{Kind: dialect.Eval})
	b, _ := NewCodec(dialect.CodecOptions{}).Encode(dialect.Op{Kind: dialect.Eval})
	if string(a.ID) == string(b.ID) || scan.Type(a.ID) != 's' {
		t.Errorf("%s, %s", a.ID, b.ID)
	}
}

// FuzzDecode checks both roles, and that ids stay unchanged.
func FuzzDecode(f *testing.F) {
	for _, example := range page(f, "testdata/examples.json") {
		f.Add([]byte(example), false)
		f.Add([]byte(example), true)
	}
	f.Add([]byte(`{"type":"eval","id":"a\u0000","code":1}`), true)
	f.Fuzz(func(t *testing.T, raw []byte, host bool) {
		c := NewCodec(dialect.CodecOptions{MaxDepth: 20}).(*codec)
		c.host, c.max = host, 1000
		if id := scan.Get(raw, "id"); scan.Valid(raw, 20) == nil && id != nil && !host {
			c.sent[string(id)] = sent{raw: true}
		}
		msgs, _, err := c.Decode(raw)
		if err != nil && wire.AsFault(err) == nil {
			t.Errorf("%v", err)
		}
		for _, m := range msgs {
			if _, err := dialect.EventOf(c, m); err != nil {
				t.Errorf("%v", err)
			}
			m.Clone()
			if m.ID != nil && string(scan.Get(raw, "id")) != string(m.ID) {
				t.Errorf("the id of %s was decoded as %s", raw, m.ID)
			}
			answers, err := c.Reply(m, wire.Event{Kind: wire.Failure, Final: true, Err: wire.NewError(-1, "x")})
			if err != nil {
				t.Errorf("%v", err)
			}
			for _, a := range answers {
				if scan.Valid(a, 100) != nil {
					t.Errorf("not JSON: %s", a)
				}
			}
		}
	})
}

// A response without its main member is invalid. Otherwise it would count as empty.
func TestResponsesWithoutTheirMember(t *testing.T) {
	for _, kind := range []string{typeList, typeDescribe, typeJournal} {
		c := NewCodec(dialect.CodecOptions{})
		m, err := c.Encode(dialect.Op{Kind: dialect.Internal, Method: kind})
		testkit.OK(t, err)
		if m, _ := decoded(t, c, `{"type":"`+kind+`_result","id":`+string(m.ID)+`}`); m.Kind != wire.Invalid || !m.Final {
			t.Errorf("%s: %+v", kind, m)
		}
		if n := len(c.(*codec).sent); n != 0 {
			t.Errorf("%s: %d requests with a response are stored", kind, n)
		}
	}
}

// A message that the user wrote gets its response and can be cancelled.
func TestRawMessages(t *testing.T) {
	c := NewCodec(dialect.CodecOptions{}).(*codec)
	for i, step := range []struct{ way, msg, want string }{
		{"send", `{"type":"eval","id":"e","code":"1"}`, `request "e"`},
		{"recv", `{"type":"eval_result","id":"e","hasValue":false}`, `response "e" final`},
		{"recv", `{"type":"eval_result","id":"e","hasValue":false}`, `notification "e"`},
		{"send", `{"type":"eval","id":"e","code":"1"}`, `request "e"`},
		{"recv", `{"type":"error","id":"e","error":{}}`, `response "e"`},
		{"recv", `{"type":"error","id":"e","error":{}}`, `notification "e"`},
		{"send", `{"type":"subscribe","id":"endless","code":"x"}`, `request "endless"`},
		{"recv", `{"type":"subscribe_result","id":"endless","hasValue":false}`, `response "endless" final`},
		{"recv", `{"type":"subscribe_result","id":"endless","hasValue":false}`, `notification "endless"`},
		{"send", `{"type":"subscribe","id":"nought","code":"x","limit":0}`, `request "nought"`},
		{"recv", `{"type":"subscribe_result","id":"nought","hasValue":false}`, `response "nought" final`},
		{"send", `{"type":"subscribe","id":"two","code":"x","limit":2}`, `request "two"`},
		{"recv", `{"type":"subscribe_result","id":"two","hasValue":false}`, `item "two"`},
		{"recv", `{"type":"subscribe_error","id":"two","error":{"kind":"k","message":"m"},"final":true}`, `item "two" final`},
		{"recv", `{"type":"subscribe_result","id":"two","hasValue":false}`, `notification "two"`},
		{"send", `{"type":"subscribe","id":"left","code":"x","limit":9}`, `request "left"`},
		{"send", `{"type":"cancel","id":"c","targetId":"left"}`, `cancel of "left"`},
		{"recv", `{"type":"subscribe_result","id":"left","hasValue":false}`, `notification "left"`},
		{"send", `{"type":"cancel","id":"c","targetId":"left"}`, `notification`},
		{"send", `{"type":"eval","id":"f","code":"1"}`, `request "f"`},
		{"send", `{"type":"cancel","id":"c","targetId":"f"}`, `notification`},
		{"recv", `{"type":"eval_result","id":"f","hasValue":false}`, `response "f" final`},
	} {
		var m wire.Message
		var err error
		if step.way == "send" {
			m, err = c.Encode(dialect.Op{Kind: dialect.Raw, Params: json.RawMessage(step.msg)})
		} else {
			var msgs []wire.Message
			if msgs, _, err = c.Decode([]byte(step.msg)); len(msgs) > 0 {
				m = msgs[len(msgs)-1]
			}
		}
		got := m.Kind.String()
		if m.Target != nil {
			got += " of " + string(m.Target)
		}
		if m.ID != nil {
			got += " " + string(m.ID)
		}
		if m.Final {
			got += " final"
		}
		if err != nil || got != step.want {
			t.Errorf("step %d, %s: %s, %v, want %s", i, step.msg, got, err, step.want)
		}
	}
}
