package ro

import (
	"strconv"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

// A recent has the latest keys.
func TestRecent(t *testing.T) {
	var r recent
	for i := range maxRecent + 2 {
		r.add(strconv.Itoa(i))
	}
	long := strings.Repeat("x", 1<<10)
	r.add(long + "x")
	if r.add(long); !r.has(long) || r.has(long+"x") {
		t.Error("the longest key has another length")
	}
	if r.has("0") || r.has("1") || r.has("2") || !r.has("3") || len(r.keys) != maxRecent {
		t.Errorf("%q", r.keys)
	}
}

// Each case has these lines: "? TYPED" makes a call (ids start at 1), "?? TYPED" subscribes, "- ID" cancels a call, "> MESSAGE" is
// a received message, and "= TEXT" is the decoded result.
var decodings = map[string]string{
	"the upload in the specification": `
? attachment:create
> {"jsonrpc":"2.0","method":"job.yield","resource":"job","verb":"yield","target":"job-123","result":{"status":"pending","progress":60,"stage":"scanning"},"request_id":1}
= item id=1 method=job.yield body={"status":"pending","progress":60,"stage":"scanning"}
> {"jsonrpc":"2.0","method":"job.return","resource":"job","verb":"return","target":"job-123","result":{"status":"done","attachmentId":"att-456"},"request_id":1}
= item id=1 method=job.return body={"status":"done","attachmentId":"att-456"} final`,
	"a response with a method": `
? user/42:get
> {"jsonrpc":"2.0","method":"user.get","result":{"id":"42"},"id":1}
= response id=1 body={"id":"42"} final`,
	"a response with the status accepted": `
? attachment:create
> {"jsonrpc":"2.0","id":1,"result":{"status":"accepted"}}
= response id=1 body={"status":"accepted"}
> {"jsonrpc":"2.0","id":1,"result":{"status":"done"}}
= item id=1 body={"status":"done"} final`,
	"a yield before the response": `
? attachment:create
> {"method":"job.yield","resource":"job","verb":"yield","target":"j","result":{"n":1},"request_id":1}
= item id=1 method=job.yield body={"n":1}
> {"id":1,"result":{"ok":1}}
= item id=1 body={"ok":1} final`,
	"a status with other members announces results only to a subscriber": `
? order:watch
> {"id":1,"result":{"status":"accepted","order":7}}
= response id=1 body={"status":"accepted","order":7} final
?? order:watch
> {"id":2,"result":{"status":"accepted","order":7}}
= response id=2 body={"status":"accepted","order":7}`,
	"by the target in the response": `
? attachment:create
> {"jsonrpc":"2.0","id":1,"result":{"status":"accepted","job":"job-1"}}
= response id=1 body={"status":"accepted","job":"job-1"}
> {"method":"job.yield","resource":"job","verb":"yield","target":"job-2","result":{"status":"pending"}}
= item method=job.yield body={"status":"pending"}
> {"method":"job.return","resource":"job","verb":"return","target":"job-1","result":{"status":"done"}}
= item id=1 method=job.return body={"status":"done"} final`,
	"a job may be an object, a target a number": `
? attachment:create
> {"id":1,"result":{"status":"pending","job":{"id":7}}}
= response id=1 body={"status":"pending","job":{"id":7}}
> {"method":"job.return","resource":"job","verb":"return","target":"7","result":{"status":"done"}}
= item id=1 method=job.return body={"status":"done"} final`,
	"by the target in the request": `
? session/session-9:prompt
> {"id":1,"result":{"status":"accepted"}}
= response id=1 body={"status":"accepted"}
> {"method":"task.return","resource":"task","verb":"return","target":"session-9","result":1}
= item method=task.return body=1 final
> {"method":"session.return","resource":"session","verb":"return","target":"session-9","result":1}
= item id=1 method=session.return body=1 final`,
	"request_id before target": `
? a:b
? c:d
> {"id":1,"result":{"status":"accepted","job":"j"}}
= response id=1 body={"status":"accepted","job":"j"}
> {"method":"job.return","resource":"job","verb":"return","target":"j","result":1,"request_id":2}
= item id=2 method=job.return body=1 final`,
	"an unknown request_id, then by the target": `
? a:b
> {"id":1,"result":{"status":"accepted","job":"j"}}
= response id=1 body={"status":"accepted","job":"j"}
> {"method":"job.return","resource":"job","verb":"return","target":"j","result":1,"request_id":"req-001"}
= item id=1 method=job.return body=1 final`,
	"twice": `
? a:b
> {"method":"job.return","resource":"job","verb":"return","target":"j","result":1,"request_id":1}
= item id=1 method=job.return body=1 final
> {"method":"job.return","resource":"job","verb":"return","target":"j","result":2,"request_id":1}
= item method=job.return body=2 final`,
	"a response after the return": `
? a:b
> {"method":"job.return","resource":"job","verb":"return","target":"j","result":1,"request_id":1}
= item id=1 method=job.return body=1 final
> {"id":1,"result":{"status":"accepted"}}`,
	"after a cancel": `
? a:b
- 1
> {"method":"job.return","resource":"job","verb":"return","target":"j","result":2,"request_id":1}
= item method=job.return body=2 final`,
	"an error in a yield ends the call": `
? a:b
> {"method":"job.yield","resource":"job","verb":"yield","target":"j","result":{"status":"error","message":"full"},"request_id":1}
= item id=1 method=job.yield body={"status":"error","message":"full"} final`,
	"an error instead of a result": `
? a:b
> {"method":"job.return","resource":"job","verb":"return","target":"j","error":{"code":7,"message":"m"},"request_id":1}
= item id=1 method=job.return error=m (code 7) final`,
	"a return without a result": `
? a:b
? c:d
> {"id":2,"result":{"status":"accepted","job":"j"}}
= response id=2 body={"status":"accepted","job":"j"}
> {"method":"job.yield","resource":"job","verb":"yield","request_id":1}
= item id=1 method=job.yield body=null
> {"method":"job.return","resource":"job","verb":"return","request_id":1}
= item id=1 method=job.return body=null final
> {"method":"job.return","resource":"job","verb":"return","target":"j"}
= item id=2 method=job.return body=null final`,
	"escapes in member names are decoded": `
> {"\u006dethod":"job.yield","\u0072esource":"job","v\u0065rb":"yield","targe\u0074":"j","\u0072esult":1}
= item method=job.yield body=1
> {"\u006dethod":"job.yield"}
= notification method=job.yield`,
	"a notification with the same method": `
> {"method":"job.yield","params":{"a":1}}
= notification method=job.yield params={"a":1} body={"a":1}`,
	"a result with an unknown id is a request": `
> {"method":"job.yield","resource":"job","verb":"yield","target":"j","result":1,"id":9}
= request id=9 method=job.yield`,
	"a subscription is acknowledged": `
?? session/session-9:watch
> {"id":1,"result":true}
= response id=1 body=true
> {"method":"session.yield","resource":"session","verb":"yield","target":"session-9","result":1}
= item id=1 method=session.yield body=1`,
	"plain JSON-RPC": `
? ping
> {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}
= response id=1 error=no (code -32601) final
> {"jsonrpc":"2.0","method":"m","params":{"subscription":"s","result":1}}
= item method=m params={"subscription":"s","result":1} body=1
> {"jsonrpc":"2.0","id":"x","method":"confirm","params":[1]}
= request id="x" method=confirm params=[1] body=[1]`,
}

func TestDecode(t *testing.T) {
	for title, lines := range decodings {
		t.Run(title, func(t *testing.T) {
			c := NewCodec(dialect.CodecOptions{})
			var got []string
			next := func() {
				for _, g := range got {
					t.Errorf("%s was not expected", g)
				}
				got = nil
			}
			for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
				word, rest, _ := strings.Cut(line, " ")
				switch word {
				case "?", "??":
					op := dialect.Op{Kind: dialect.Call, Method: rest}
					if word == "??" {
						op.Kind = dialect.Subscribe
					}
					if _, err := c.Encode(op); err != nil {
						t.Fatal(err)
					}
				case "-":
					_, _ = c.Encode(dialect.Op{Kind: dialect.Cancel, OfID: wire.ID(rest)})
				case ">":
					next()
					msgs, _, err := c.Decode([]byte(rest))
					testkit.OK(t, err)
					for _, m := range msgs {
						got = append(got, shown(m))
					}
				case "=":
					if len(got) == 0 || got[0] != rest {
						t.Fatalf("got %q, want %q", got, rest)
					}
					got = got[1:]
				}
			}
			next()
		})
	}
}

func TestEvent(t *testing.T) {
	for msg, want := range map[string]string{
		`{"method":"job.yield","resource":"job","verb":"yield","target":"j","result":{"status":"pending","progress":60,"stage":"scanning"}}`:        `{"event":"progress","message":"scanning","fraction":0.6,"data":{"status":"pending","progress":60,"stage":"scanning"},"job":"j","extra":{"resource":"job"}}`,
		`{"method":"job.yield","resource":"job","verb":"yield","target":"j","result":"text"}`:                                                       `{"event":"progress","message":"","data":"text","job":"j","extra":{"resource":"job"}}`,
		`{"method":"job.yield","resource":"job","verb":"yield","target":"j","result":{"progress":0.5}}`:                                             `{"event":"progress","message":"","fraction":0.5,"data":{"progress":0.5},"job":"j","extra":{"resource":"job"}}`,
		`{"method":"job.return","resource":"job","verb":"return","target":"j","result":{"status":"done"}}`:                                          `{"event":"data","data":{"status":"done"},"job":"j","extra":{"resource":"job"}}`,
		`{"method":"job.return","resource":"job","verb":"return","target":"j","result":{"status":"error","message":"full"}}`:                        `{"event":"error","message":"full","data":{"status":"error","message":"full"},"job":"j","extra":{"resource":"job"}}`,
		`{"method":"job.return","resource":"job","verb":"return","target":"j","result":{"status":"error","error":{"code":7,"message":"x"}}}`:        `{"event":"error","code":7,"message":"x","data":{"status":"error","error":{"code":7,"message":"x"}},"job":"j","extra":{"resource":"job"}}`,
		`{"method":"job.return","target":"j","result":{"status":"error","message":"y","error":{"code":7,"message":"x","data":{"retryable":true}}}}`: `{"event":"error","code":7,"message":"y","retryable":true,"data":{"status":"error","message":"y","error":{"code":7,"message":"x","data":{"retryable":true}}},"job":"j"}`,
		`{"method":"job.return","target":"j","result":{"status":"error","error":"x","retryable":false,"code":5}}`:                                   `{"event":"error","code":5,"message":"x","retryable":false,"data":{"status":"error","error":"x","retryable":false,"code":5},"job":"j"}`,
		`{"method":"job.return","target":"j","result":{"status":"error","code":5,"error":{"code":7,"message":"x"}}}`:                                `{"event":"error","code":7,"message":"x","data":{"status":"error","code":5,"error":{"code":7,"message":"x"}},"job":"j"}`,
		`{"method":"job.return","target":"j","result":{"status":"error","message":"m","code":"5"}}`:                                                 `{"event":"error","message":"m","data":{"status":"error","message":"m","code":"5"},"job":"j"}`,
		`{"id":1,"result":{"status":"error"}}`:          `{"event":"error","message":"failed","data":{"status":"error"}}`,
		`{"id":1,"result":{"id":"7","status":"error"}}`: `{"event":"data","data":{"id":"7","status":"error"}}`,
		`{"id":1,"result":{"status":"shipped"}}`:        `{"event":"data","data":{"status":"shipped"}}`,
		`{"method":"m","params":[1]}`:                   `{"event":"data","method":"m","data":[1]}`,
	} {
		c := NewCodec(dialect.CodecOptions{})
		msgs, _, _ := c.Decode([]byte(msg))
		ev, err := dialect.EventOf(c, msgs[0])
		if got := string(ev.AppendJSON(nil)); err != nil || got != want {
			t.Errorf("%s:\n got %s %v\nwant %s", msg, got, err, want)
		}
	}
}

// Decode and Reply do not change an id, and no message causes a panic.
func FuzzDecode(f *testing.F) {
	for _, lines := range decodings {
		for line := range strings.Lines(lines) {
			if msg, ok := strings.CutPrefix(line, "> "); ok {
				f.Add(strings.TrimSpace(msg))
			}
		}
	}
	f.Add(`[{"id":1,"result":{"status":"accepted","job":{"job":{"id":[]}}}},{"method":"a.yield","target":{},"result":0,"request_id":1}]`)
	f.Fuzz(func(t *testing.T, text string) {
		c := NewCodec(dialect.CodecOptions{})
		for range 2 {
			_, _ = c.Encode(dialect.Op{Kind: dialect.Call, Method: "a/j:b"})
		}
		for range 2 {
			msgs, _, err := c.Decode([]byte(text))
			if err != nil {
				return
			}
			for _, m := range msgs {
				_, _ = dialect.EventOf(c, m)
				if m.Kind != wire.Request {
					c.Opened(dialect.Op{Kind: dialect.Call}, m)
					continue
				}
				fields := readFields(m.Raw)
				a, _ := fields.address(m.Method)
				_ = fields.input(a, m.Params)
				out, err := c.Reply(m, wire.Event{Kind: wire.Data, Data: []byte("1")})
				if err != nil || len(out) != 1 || !strings.Contains(string(out[0]), `"id":`+string(m.ID)) {
					t.Errorf("%s: got the response %q, %v", text, out, err)
				}
			}
		}
	})
}

// BenchmarkYield measures a yield in a call.
func BenchmarkYield(b *testing.B) {
	c := NewCodec(dialect.CodecOptions{})
	_, _ = c.Encode(dialect.Op{Kind: dialect.Call, Method: "attachment:create"})
	raw := []byte(`{"jsonrpc":"2.0","method":"job.yield","resource":"job","verb":"yield","target":"job-123","result":{"status":"pending","progress":60,"stage":"scanning"},"request_id":1}`)
	b.ReportAllocs()
	for b.Loop() {
		if msgs, _, _ := c.Decode(raw); len(msgs) != 1 {
			b.Fatal(msgs)
		}
	}
}
