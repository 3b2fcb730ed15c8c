package player

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func rules(dialect string) (*match.Rules, error) {
	shape, err := all.ShapeOf(dialect)
	return match.NewRules(shape, nil), err
}

// load returns the transcript of a tape.
func load(t *testing.T, tape []byte) *transcript.Transcript {
	t.Helper()
	tr, err := transcript.Read(bytes.NewReader(tape), "x.tape", rules)
	if err != nil {
		t.Fatalf("%v\n%s", err, tape)
	}
	return tr
}

// read returns a transcript. The client sends lines that begin with "> ", and receives lines that begin with "< ".
func read(t *testing.T, lines string) *transcript.Transcript {
	t.Helper()
	var b strings.Builder
	switch {
	case strings.HasPrefix(lines, `{"tape":1`):
	case strings.Contains(lines, `"type":`):
		b.WriteString(`{"tape":1,"dialect":"hotrepl"}` + "\n")
	default:
		b.WriteString(`{"tape":1}` + "\n")
	}
	for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		line = strings.TrimSpace(line)
		switch line[:2] {
		case "> ":
			fmt.Fprintf(&b, `{"t":%d,"dir":"send","msg":%s}`+"\n", i, line[2:])
		case "< ":
			fmt.Fprintf(&b, `{"t":%d,"dir":"recv","msg":%s}`+"\n", i, line[2:])
		default:
			b.WriteString(line + "\n")
		}
	}
	return load(t, []byte(b.String()))
}

// peer is the program with which a tape is played.
type peer struct {
	t *testing.T
	wire.Conn
}

func (p peer) say(msg string) {
	p.t.Helper()
	if err := p.Send([]byte(msg)); err != nil {
		p.t.Errorf("send %s: %v", msg, err)
	}
}

func (p peer) hear(want string) {
	p.t.Helper()
	if msg, err := p.Recv(); err != nil || string(msg) != want {
		p.t.Fatalf("got  %s (%v)\nwant %s", msg, err, want)
	}
}

// quiet checks that no message arrives.
func (p peer) quiet() {
	p.t.Helper()
	synctest.Wait()
}

// serve plays the server of a tape with talk as its client.
func serve(t *testing.T, tape string, o Options, talk func(p peer)) (found []match.Difference) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Found = func(f match.Difference) { found = append(found, f) }
		s, err := NewServer(read(t, tape), o)
		testkit.OK(t, err)
		here, there := transport.Pair()
		done := make(chan error, 1)
		go func() { done <- s.Serve(t.Context(), there) }()
		talk(peer{t, here})
		_ = here.Close()
		testkit.OK(t, <-done)
	})
	return found
}

// client plays the client of a tape with talk as its server.
func client(t *testing.T, tape string, o Options, talk func(p peer)) (r []*Found) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tr := read(t, tape)
		testkit.OK(t, CheckClient(tr, o))
		here, there := transport.Pair()
		done := make(chan struct{})
		go func() { talk(peer{t, there}); close(done) }()
		var err error
		if r, err = Client(t.Context(), tr, 0, here, o); err != nil {
			t.Error(err)
		}
		<-done
		_ = there.Close()
	})
	return r
}

// told returns the differences in l.
func told(l []*Found) (all []match.Difference) {
	for _, f := range l {
		all = append(all, f.Difference)
	}
	return all
}

func texts(found []match.Difference) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s %d %s %s %s %s\n", f.Kind, f.Line, f.Pointer, f.Want, f.Got, f.Text)
	}
	return b.String()
}

const orders = `
> {"jsonrpc":"2.0","id":1,"method":"get","params":{"id":"a","n":1}}
< {"jsonrpc":"2.0","id":1,"result":10}
> {"jsonrpc":"2.0","id":2,"method":"get","params":{"id":"a","n":1.0}}
< {"jsonrpc":"2.0","id":2,"result":20}
> {"jsonrpc":"2.0","id":3,"method":"list"}
< {"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}`

// Of equal requests, the first unused one is played. When all are used, the last one is repeated. Ids, the order of keys and the
// form of numbers do not matter.
func TestServeFirstUnusedThenLast(t *testing.T) {
	found := serve(t, orders, Options{}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":"x","method":"list"}`)
		p.hear(`{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no"}}`)
		for i, want := range []int{10, 20, 20, 20} {
			p.say(fmt.Sprintf(`{"id":%d,"params":{"n":1e0,"id":"\u0061"},"method":"get","jsonrpc":"2.0"}`, 70+i))
			p.hear(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, 70+i, want))
		}
	})
	testkit.Expect(t, "differences", texts(found), "")
}

func TestServeUnknown(t *testing.T) {
	found := serve(t, orders, Options{}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":7,"method":"get","params":{"id":"b","n":1}}`)
		p.hear(`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"not on the tape: the nearest is line 2, which differs at /params/id","data":{"line":2,"differences":[{"pointer":"/params/id","want":"a","got":"b"}]}}}`)
		p.say(`{"jsonrpc":"2.0","id":8,"method":"lst"}`)
		p.hear(`{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"not on the tape: no request has this method; did you mean list (line 6)?","data":{"line":6,"differences":[{"pointer":"/method","want":"list","got":"lst"}]}}}`)
	})
	if len(found) != 2 || found[0].Pointer != "/params/id" || found[0].Line != 2 {
		t.Error(texts(found))
	}
}

func TestServeStrict(t *testing.T) {
	serve(t, orders, Options{Strict: true}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":7,"method":"list"}`)
		p.hear(`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"not on the tape: the next request on the tape is get, line 2","data":{"line":2,"differences":[]}}}`)
		p.say(`{"jsonrpc":"2.0","id":8,"method":"get","params":{"id":"a","n":1}}`)
		p.hear(`{"jsonrpc":"2.0","id":8,"result":10}`)
		p.say(`{"jsonrpc":"2.0","id":9,"method":"get","params":{"id":"a","n":2}}`)
		p.hear(`{"jsonrpc":"2.0","id":9,"error":{"code":-32000,"message":"not on the tape: the nearest is line 4, which differs at /params/n","data":{"line":4,"differences":[{"pointer":"/params/n","want":1.0,"got":2}]}}}`)
		for id, msg := range []string{`{"jsonrpc":"2.0","id":0,"method":"get","params":{"id":"a","n":1}}`, `{"jsonrpc":"2.0","id":1,"method":"list"}`} {
			p.say(msg)
			if msg := testkit.Recv(t, p); !strings.HasPrefix(msg, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, id)) {
				t.Error(msg)
			}
		}
		p.say(`{"jsonrpc":"2.0","id":2,"method":"list"}`)
		p.hear(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"not on the tape: the tape has ended","data":{"line":0,"differences":[]}}}`)
	})
	serve(t, `{"note":"no messages"}`, Options{Strict: true}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":7,"method":"list"}`)
		p.hear(`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"not on the tape: no request has this method","data":{"line":0,"differences":[]}}}`)
	})
}

// A message can differ at many places, and a call or another connection can have no response on the tape.
func TestServeWithoutResponses(t *testing.T) {
	found := serve(t, `
< {"jsonrpc":"2.0","id":5,"method":"ask"}
> {"jsonrpc":"2.0","id":1,"method":"m","params":[1,1,1,1,1,1,1,1,1]}
< {"jsonrpc":"2.0","id":1,"result":true}
{"conn":2,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"other"}}`, Options{}, func(p peer) {
		p.hear(`{"jsonrpc":"2.0","id":5,"method":"ask"}`)
		p.say(`{"jsonrpc":"2.0","id":9,"result":true}`)
		for n, want := range []string{"/params/0, /params/1, /params/2, /params/3, /params/4, /params/5, /params/6, /params/7", "/params/0, /params/1, /params/2, /params/3, /params/4, /params/5, /params/6, /params/7, …"} {
			p.say(`{"jsonrpc":"2.0","id":1,"method":"m","params":[2,2,2,2,2,2,2,2,` + []string{"1", "2"}[n] + `]}`)
			if msg := testkit.Recv(t, p); !strings.Contains(msg, "differs at "+want+`"`) {
				t.Error(msg)
			}
		}
	})
	if len(found) != 3 || found[0].Text != "it is not the response to a call" {
		t.Error(texts(found))
	}
}

const stream = `
> {"jsonrpc":"2.0","id":1,"method":"x_subscribe","params":["heads"]}
< {"jsonrpc":"2.0","id":1,"result":"0x1"}
< {"jsonrpc":"2.0","method":"x_subscription","params":{"subscription":"0x1","result":1}}
< {"jsonrpc":"2.0","method":"x_subscription","params":{"subscription":"0x1","result":2}}
< {"jsonrpc":"2.0","method":"other","params":{}}`

// A client that unsubscribes earlier than the recorded one gets no more items of that stream, but all other messages. A new
// subscription starts at the beginning.
func TestServeEndsStream(t *testing.T) {
	found := serve(t, stream, Options{Speed: 1}, func(p peer) {
		for range 2 {
			p.say(`{"jsonrpc":"2.0","id":"a","method":"x_subscribe","params":["heads"]}`)
			p.hear(`{"jsonrpc":"2.0","id":"a","result":"0x1"}`)
			p.hear(`{"jsonrpc":"2.0","method":"x_subscription","params":{"subscription":"0x1","result":1}}`)
			p.say(`{"jsonrpc":"2.0","id":"b","method":"x_unsubscribe","params":["0x1"]}`)
			p.hear(`{"jsonrpc":"2.0","id":"b","result":true}`)
			p.hear(`{"jsonrpc":"2.0","method":"other","params":{}}`)
		}
	})
	testkit.Expect(t, "differences", texts(found), "")
	found = serve(t, stream, Options{Speed: 1}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":"b","method":"x_unsubscribe","params":["0x2"]}`)
		p.hear(`{"jsonrpc":"2.0","id":"b","error":{"code":-32601,"message":"not on the tape: no request has this method; did you mean x_subscribe?","data":{"line":0,"differences":[]}}}`)
	})
	testkit.Expect(t, texts(found), len(found), 1)
}

// approve has a call by the server, a notification, and a response that is sent after both.
const approve = `
< {"jsonrpc":"2.0","method":"hello"}
> {"jsonrpc":"2.0","id":1,"method":"approve","params":["o"]}
< {"jsonrpc":"2.0","method":"progress","params":1}
< {"jsonrpc":"2.0","id":5,"method":"ask","params":{}}
> {"jsonrpc":"2.0","id":5,"result":true}
< {"jsonrpc":"2.0","method":"progress","params":2}
< {"jsonrpc":"2.0","id":1,"result":"done"}
> {"jsonrpc":"2.0","method":"bye"}
< {"jsonrpc":"2.0","method":"bye"}`

func TestServeCausally(t *testing.T) {
	found := serve(t, approve, Options{}, func(p peer) {
		p.hear(`{"jsonrpc":"2.0","method":"hello"}`)
		for id := range 2 {
			p.quiet()
			p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"approve","params":["o"]}`, id))
			p.hear(`{"jsonrpc":"2.0","method":"progress","params":1}`)
			p.hear(`{"jsonrpc":"2.0","id":5,"method":"ask","params":{}}`)
			p.quiet()
			p.say(`{"jsonrpc":"2.0","id":5,"result":true}`)
			p.hear(`{"jsonrpc":"2.0","method":"progress","params":2}`)
			p.hear(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"done"}`, id))
		}
		p.say(`{"jsonrpc":"2.0","method":"bye"}`)
		p.hear(`{"jsonrpc":"2.0","method":"bye"}`)
	})
	testkit.Expect(t, "differences", texts(found), "")
}

// A response that follows a later request on the tape waits for that request, but not forever.
func TestServePipelined(t *testing.T) {
	const tape = `
> {"jsonrpc":"2.0","id":1,"method":"a"}
> {"jsonrpc":"2.0","id":2,"method":"b"}
< {"jsonrpc":"2.0","id":2,"result":"b"}
< {"jsonrpc":"2.0","id":1,"result":"a"}`
	serve(t, tape, Options{}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":1,"method":"a"}`)
		p.quiet()
		p.say(`{"jsonrpc":"2.0","id":2,"method":"b"}`)
		p.hear(`{"jsonrpc":"2.0","id":2,"result":"b"}`)
		p.hear(`{"jsonrpc":"2.0","id":1,"result":"a"}`)
	})
	serve(t, tape, Options{}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":1,"method":"a"}`)
		p.hear(`{"jsonrpc":"2.0","id":1,"result":"a"}`)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"b"}`)
		p.hear(`{"jsonrpc":"2.0","id":1,"result":"b"}`)
	})
	serve(t, tape, Options{}, func(p peer) {
		p.say(`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]`)
		p.hear(`[{"jsonrpc":"2.0","id":2,"result":"b"},{"jsonrpc":"2.0","id":1,"result":"a"}]`)
	})
}

// The played server uses the current value of a token that the client generates.
func TestServeTokens(t *testing.T) {
	serve(t, `
> {"jsonrpc":"2.0","id":1,"method":"index","params":{"workDoneToken":7}}
< {"jsonrpc":"2.0","method":"$/progress","params":{"token":7,"value":7}}
< {"jsonrpc":"2.0","id":1,"result":null}`, Options{}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":9,"method":"index","params":{"workDoneToken":12}}`)
		p.hear(`{"jsonrpc":"2.0","method":"$/progress","params":{"token":12,"value":7}}`)
		p.hear(`{"jsonrpc":"2.0","id":9,"result":null}`)
	})
}

func TestServePace(t *testing.T) {
	serve(t, orders, Options{Speed: 2}, func(p peer) {
		start := time.Now()
		p.say(`{"jsonrpc":"2.0","id":1,"method":"get","params":{"id":"a","n":1}}`)
		p.hear(`{"jsonrpc":"2.0","id":1,"result":10}`)
		testkit.Expect(t, "the duration", time.Since(start), 500*time.Millisecond)
	})
}

// Messages that were recorded separately are sent separately, because a client may handle a response before notifications that it
// reads together with it.
func TestServeApart(t *testing.T) {
	const tape = `
{"t":1,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"work"}}
{"t":2,"dir":"recv","msg":{"jsonrpc":"2.0","method":"progress","params":1}}
{"t":2.0001,"dir":"recv","msg":{"jsonrpc":"2.0","method":"progress","params":2}}
{"t":3,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":null}}`
	serve(t, tape, Options{}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","id":1,"method":"work"}`)
		start := time.Now()
		p.hear(`{"jsonrpc":"2.0","method":"progress","params":1}`)
		p.hear(`{"jsonrpc":"2.0","method":"progress","params":2}`)
		if took := time.Since(start); took > 0 {
			t.Errorf("together after %v", took)
		}
		p.hear(`{"jsonrpc":"2.0","id":1,"result":null}`)
		testkit.Expect(t, "the duration", time.Since(start), maxApart)
	})
}

func TestServeByHand(t *testing.T) {
	serve(t, `
{"dir":"send","match":".method == \"add\"","name":"sum","bind":{"x":".params[0]","s":"[.params[] | tostring] | join(\"+\")"}}
{"dir":"recv","re":"sum","vars":true,"msg":{"result":{"x":"${x}","text":"of ${s}"}}}`, Options{}, func(p peer) {
		for id := range 3 {
			p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"add","params":[%d,2]}`, id, id*2))
			p.hear(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"x":%d,"text":"of %d+2"}}`, id, id*2, id*2))
		}
	})
}

func TestServeHotRepl(t *testing.T) {
	serve(t, `
< {"type":"handshake","protocolVersion":2}
> {"type":"subscribe","id":"w-1","code":"x"}
< {"type":"subscribe_result","id":"w-1","seq":1,"value":1}
< {"type":"subscribe_result","id":"w-1","seq":2,"value":2,"final":true}`, Options{}, func(p peer) {
		p.hear(`{"type":"handshake","protocolVersion":2}`)
		for _, id := range []string{"a-7", "a-8"} {
			p.say(fmt.Sprintf(`{"type":"subscribe","id":%q,"code":"x"}`, id))
			p.hear(fmt.Sprintf(`{"type":"subscribe_result","id":%q,"seq":1,"value":1}`, id))
			p.hear(fmt.Sprintf(`{"type":"subscribe_result","id":%q,"seq":2,"value":2,"final":true}`, id))
		}
		p.say(`{"type":"eval","id":"q","code":"1"}`)
		p.hear(`{"type":"error","id":"q","error":{"kind":"precondition_failed","code":"notOnTape","message":"not on the tape: no request has this method","retryable":false,"details":{"line":0,"differences":[]}}}`)
	})
}

func TestClient(t *testing.T) {
	r := client(t, approve, Options{}, func(p peer) {
		p.say(`{"jsonrpc":"2.0","method":"hello"}`)
		p.hear(`{"jsonrpc":"2.0","id":1,"method":"approve","params":["o"]}`)
		p.say(`{"jsonrpc":"2.0","id":"srv-1","method":"ask","params":{}}`)
		p.say(`{"jsonrpc":"2.0","method":"progress","params":1}`)
		p.hear(`{"jsonrpc":"2.0","id":"srv-1","result":true}`)
		p.say(`{"jsonrpc":"2.0","method":"progress","params":2}`)
		p.say(`{"jsonrpc":"2.0","id":1,"result":"done"}`)
		p.hear(`{"jsonrpc":"2.0","method":"bye"}`)
		p.say(`{"jsonrpc":"2.0","method":"bye"}`)
	})
	testkit.Expect(t, "differences", texts(told(r)), "")
}

// Values that the server generates return in requests. They are not differences.
func TestClientCarriesOver(t *testing.T) {
	r := client(t, `
> {"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}
< {"jsonrpc":"2.0","id":1,"result":"0xaa"}
< {"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0xaa","result":{"number":"0x1"}}}
> {"jsonrpc":"2.0","id":2,"method":"eth_unsubscribe","params":["0xaa"]}
< {"jsonrpc":"2.0","id":2,"result":true}`, Options{}, func(p peer) {
		p.hear(`{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}`)
		p.say(`{"jsonrpc":"2.0","id":1,"result":"0xbb"}`)
		p.say(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0xbb","result":{"number":"0x1"}}}`)
		p.hear(`{"jsonrpc":"2.0","id":2,"method":"eth_unsubscribe","params":["0xbb"]}`)
		p.say(`{"jsonrpc":"2.0","id":2,"result":true}`)
	})
	testkit.Expect(t, "differences", texts(told(r)), "")
}

func TestClientDifferences(t *testing.T) {
	const tape = `
> {"jsonrpc":"2.0","id":1,"method":"a"}
< {"jsonrpc":"2.0","method":"n","params":1}
< {"jsonrpc":"2.0","method":"n","params":2}
< {"jsonrpc":"2.0","method":"n","params":3}
< {"jsonrpc":"2.0","id":1,"result":{"id":"o_1","total":5,"createdAt":"2026-01-01T00:00:00Z","tookMs":3}}`
	notes := func(notes ...int) (say string) {
		for _, n := range notes {
			say += fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":%d}`, n) + "\n"
		}
		return say + `{"jsonrpc":"2.0","id":1,"result":{"id":"o_2","total":5,"createdAt":"2026-01-02T00:00:00Z","tookMs":4,"new":true}}`
	}
	answer := "differs 6 /result/id \"o_1\" \"o_2\" \ndiffers 6 /result/new  true \n"
	for _, tt := range []struct{ name, tape, say, want string }{
		{"another response", tape, notes(1, 2, 3), answer},
		{"a missing notification", tape, notes(2, 3), `missing 3  {"jsonrpc":"2.0","method":"n","params":1}  ` + "\n" + answer},
		{"an extra notification", tape, notes(1, 9, 2, 3), `extra 3   {"jsonrpc":"2.0","method":"n","params":9} ` + "\n" + answer},
		{"another notification", tape, notes(1, 9, 3), "differs 4 /params 2 9 \n" + answer},
		{"a repeated notification", tape, notes(1, 2, 3, 3), `extra 5   {"jsonrpc":"2.0","method":"n","params":3} ` + "\n" + answer},
		{
			"an equal message takes the entry of a similar one of its method", `
< {"jsonrpc":"2.0","method":"m","params":5}
< {"jsonrpc":"2.0","method":"n","params":1}
< {"jsonrpc":"2.0","method":"n","params":2}`,
			`{"jsonrpc":"2.0","method":"m","params":9}` + "\n" + `{"jsonrpc":"2.0","method":"n","params":3}` + "\n" + `{"jsonrpc":"2.0","method":"n","params":1}`,
			"differs 2 /params 5 9 \ndiffers 4 /params 2 3 \n",
		},
		{
			"an optional notification repeats", `
{"dir":"recv","optional":true,"msg":{"jsonrpc":"2.0","method":"n"}}
> {"jsonrpc":"2.0","method":"once"}`,
			`{"jsonrpc":"2.0","method":"n"}` + "\n" + `{"jsonrpc":"2.0","method":"n"}`, "",
		},
		{
			"an HTTP error", `
> {"jsonrpc":"2.0","id":1,"method":"a"}
{"http":{"method":"POST","url":"http://x/","status":400}}
{"dir":"recv","text":"no\n"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"HTTP 400 no"}}`, "",
		},
		{
			"another HTTP error", `
> {"jsonrpc":"2.0","id":1,"method":"a"}
{"http":{"method":"POST","url":"http://x/","status":400}}
{"dir":"recv","text":"no"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"HTTP 401 no"}}`,
			`differs 4  "no" {"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"HTTP 401 no"}} ` + "\n",
		},
		{
			"a response for which the recorded client did not wait", `
> {"jsonrpc":"2.0","id":1,"method":"a"}
{"dir":"send","close":{"clean":true}}`, `{"jsonrpc":"2.0","id":1,"result":1}`, "",
		},
		{
			"a response that the recorded client did not get", `
> {"jsonrpc":"2.0","id":1,"method":"a"}
< {"jsonrpc":"2.0","method":"n"}
{"dir":"send","close":{"clean":true}}`, `{"jsonrpc":"2.0","method":"n"}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":1}`, `extra 2   {"jsonrpc":"2.0","id":1,"result":1} ` + "\n",
		},
	} {
		r := client(t, tt.tape, Options{AnswerTimeout: time.Second}, func(p peer) {
			if strings.Contains(tt.say, `"id":1`) {
				p.hear(`{"jsonrpc":"2.0","id":1,"method":"a"}`)
			}
			for msg := range strings.SplitSeq(tt.say, "\n") {
				p.say(msg)
			}
		})
		testkit.Expect(t, tt.name, texts(told(r)), tt.want)
	}
}

func TestDiff(t *testing.T) {
	a := read(t, approve)
	if found := differences(t, a, read(t, approve)); len(found) > 0 {
		t.Error(texts(found))
	}
	b := read(t, strings.Replace(strings.ReplaceAll(approve, `"id":5`, `"id":"z"`), `"done"`, `"gone"`, 1))
	found := differences(t, a, b)
	testkit.Expect(t, "differences", texts(found), "differs 8 /result \"done\" \"gone\" \n")
}

// Status requests for a running job are not compared if their numbers differ, even if the client asks again after the job's end.
func TestDiffOfJobs(t *testing.T) {
	polled := func(states ...string) *transcript.Transcript {
		lines := ""
		for i, state := range states {
			lines += fmt.Sprintf(`> {"type":"job_status","id":"%d","jobId":"j"}`+"\n"+`< {"type":"job_status_result","id":"%[1]d","jobId":"j","state":"%s"}`+"\n", i, state)
		}
		return read(t, lines)
	}
	const running = `running","progress":"`
	found := differences(t, polled(running+"1", running+"2", "completed", "completed"), polled(running+"3", running+"4", running+"5", running+"6", "completed"))
	if got := texts(found); !strings.HasPrefix(got, "missing 8 ") || strings.Count(got, "\n") != 2 {
		t.Error(got)
	}
}

// If one tape has more connections, their messages are missing or extra.
func TestDiffOfMoreConnections(t *testing.T) {
	one := read(t, approve)
	two := read(t, strings.TrimRight(approve, "\n")+"\n"+`{"t":9,"conn":2,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"more"}}`+"\n")
	if found := texts(differences(t, two, one)); !strings.HasPrefix(found, "missing ") || strings.Count(found, "\n") != 1 {
		t.Error(found)
	}
	if found := texts(differences(t, one, two)); found == "" || strings.HasPrefix(found, "missing ") || strings.Count(found, "\n") != 1 {
		t.Error(found)
	}
}

// A message that replaces a similar one is compared with it, even if several follow one another. Otherwise, the new message is
// extra, and the old one is missing.
func TestDiffInPlace(t *testing.T) {
	const a = `
> {"jsonrpc":"2.0","id":1,"method":"watch"}
< {"jsonrpc":"2.0","id":1,"result":"w"}
< {"jsonrpc":"2.0","method":"tick","params":{"n":1}}
< {"jsonrpc":"2.0","method":"tick","params":{"n":2}}
< {"jsonrpc":"2.0","method":"tick","params":{"n":3}}
< {"jsonrpc":"2.0","method":"end","params":["a","b"]}`
	tests := []struct{ old, changed, want string }{
		{`"tick"`, `"tock"`, "differs 4 /method \"tick\" \"tock\" \ndiffers 5 /method \"tick\" \"tock\" \ndiffers 6 /method \"tick\" \"tock\" \n"},
		{`"id":1,"result"`, `"id":"1","result"`, "differs 3 /id 1 \"1\" \n"},
		{`"jsonrpc":"2.0","method":"end"`, `"method":"end"`, "differs 7 /jsonrpc \"2.0\"  \n"},
		{`"method":"end"`, `"method":"end","id":9`, "differs 7 /id  9 \n"},
		{`"end","params":["a","b"]`, `"over","params":{"x":1}`, "extra 6   {\"jsonrpc\":\"2.0\",\"method\":\"over\",\"params\":{\"x\":1}} \n" +
			"missing 7  {\"jsonrpc\":\"2.0\",\"method\":\"end\",\"params\":[\"a\",\"b\"]}  \n"},
	}
	for _, tt := range tests {
		found := differences(t, read(t, a), read(t, strings.ReplaceAll(a, tt.old, tt.changed)))
		testkit.Expect(t, tt.changed, texts(found), tt.want)
	}
}

// A message that arrives after its timeout is late.
func TestClientLate(t *testing.T) {
	r := client(t, `
> {"jsonrpc":"2.0","id":1,"method":"a"}
< {"jsonrpc":"2.0","id":1,"result":1}
> {"jsonrpc":"2.0","id":2,"method":"b"}
< {"jsonrpc":"2.0","id":2,"result":2}`, Options{AnswerTimeout: time.Second}, func(p peer) {
		p.hear(`{"jsonrpc":"2.0","id":1,"method":"a"}`)
		p.hear(`{"jsonrpc":"2.0","id":2,"method":"b"}`)
		p.say(`{"jsonrpc":"2.0","id":1,"result":1}`)
		p.say(`{"jsonrpc":"2.0","id":2,"result":2}`)
	})
	testkit.Expect(t, "differences", texts(told(r)), "extra 0   {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1} \nmissing 3  {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}  \n")
}

// A server can send a message after an unmatched or invalid response.
func TestServeStray(t *testing.T) {
	found := serve(t, approve, Options{}, func(p peer) {
		p.hear(`{"jsonrpc":"2.0","method":"hello"}`)
		p.say(`{"jsonrpc":"2.0","id":9,"result":true}`)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"approve","params":["o"]}`)
		p.hear(`{"jsonrpc":"2.0","method":"progress","params":1}`)
		p.hear(`{"jsonrpc":"2.0","id":5,"method":"ask","params":{}}`)
		p.say(`{"jsonrpc":"2.0","id":"5","result":true}`)
		p.say(`{"x":1}`)
		p.hear(`{"jsonrpc":"2.0","id":1,"result":"done"}`)
	})
	testkit.Expect(t, "differences", texts(found), "extra 0   {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":true} it is not the response to a call\ndiffers 6 /id 5 \"5\" \nextra 0   {\"x\":1} it is not a message of this dialect\n")
}

// Equal requests can be answered in any order while both are pending.
func TestEqualRequests(t *testing.T) {
	const tape = `
> {"jsonrpc":"2.0","id":1,"method":"next"}
> {"jsonrpc":"2.0","id":2,"method":"next"}
> {"jsonrpc":"2.0","id":3,"method":"next"}
< {"jsonrpc":"2.0","id":1,"result":10}
< {"jsonrpc":"2.0","id":2,"result":20}
< {"jsonrpc":"2.0","id":3,"result":30}`
	for _, order := range [][3]int{{20, 30, 10}, {30, 10, 20}, {20, 10, 30}, {10, 30, 20}, {30, 20, 10}} {
		other := fmt.Sprintf(`
> {"jsonrpc":"2.0","id":7,"method":"next"}
> {"jsonrpc":"2.0","id":8,"method":"next"}
> {"jsonrpc":"2.0","id":9,"method":"next"}
< {"jsonrpc":"2.0","id":7,"result":%d}
< {"jsonrpc":"2.0","id":8,"result":%d}
< {"jsonrpc":"2.0","id":9,"result":%d}`, order[0], order[1], order[2])
		if found := differences(t, read(t, tape), read(t, other)); len(found) > 0 {
			t.Errorf("%v: %s", order, texts(found))
		}
		r := client(t, tape, Options{}, func(p peer) {
			for id := range 3 {
				p.hear(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"next"}`, id+1))
			}
			for n, result := range order {
				p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, n+1, result))
			}
		})
		testkit.Expect(t, fmt.Sprint(order), texts(told(r)), "")
	}
	found := differences(t, read(t, tape), read(t, strings.Replace(tape, "20", "21", 1)))
	testkit.Expect(t, "differences", texts(found), "differs 6 /result 20 21 \n")
}

func TestCheck(t *testing.T) {
	tests := []struct{ tape, want string }{
		{`{"dir":"send","match":".x"}`, `line 2: a line without "msg" cannot be sent`},
		{`{"dir":"recv","match":".x == $y"}`, `line 2: "match": jq: variable not defined: $y`},
		{`{"dir":"recv","match":".x |"}`, `line 2: "match": jq: unexpected EOF`},
		{`{"dir":"recv","match":".x","bind":{"k":".x |"}}`, `line 2: "bind": "k": jq: unexpected EOF`},
		{`{"dir":"send","vars":true,"msg":{"a":"${q}"}}`, `line 2: ${q} has no value: no earlier line binds it, and no --fill sets it`},
		{`> {"jsonrpc":"2.0","id":1,"method":"login","params":{"password":"…"}}`, `line 2: the value of "password" is redacted; give it with --fill password=VALUE`},
	}
	for _, tt := range tests {
		err := CheckClient(read(t, tt.tape), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "the tape x.tape, "+tt.want) {
			t.Errorf("%s: %v", tt.tape, err)
		}
	}
	set := map[string]json.RawMessage{"password": json.RawMessage(`"x"`), "q": json.RawMessage("1")}
	for _, tape := range []string{tests[4].tape, tests[5].tape} {
		testkit.OK(t, CheckClient(read(t, tape), Options{Set: set}))
	}
}
