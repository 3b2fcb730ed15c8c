package codec

import (
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A stream that the dialect file tells of is one even where the base would know it as its own.
func TestItemsOfTheBase(t *testing.T) {
	c := speaks(t, `
name = "x"
[subscribe.ticks]
item = { method = "ticks", when = ".subscription == $result", event = ".result" }
`)
	m, err := c.Encode(dialect.Op{Kind: dialect.Subscribe, Method: "ticks"})
	if err != nil || string(m.ID) != "1" {
		t.Fatalf("%s, %v", m.ID, err)
	}
	msgs, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","id":1,"result":"s1"}`))
	if err != nil || len(msgs) != 1 {
		t.Fatalf("%v, %v", msgs, err)
	}
	stream, final := c.Opened(dialect.Op{Kind: dialect.Subscribe, Method: "ticks"}, msgs[0])
	if stream == nil || final {
		t.Fatalf("no stream was opened")
	}
	for raw, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s1","result":{"b":1.10,"a":2}}}`: `{"b":1.10,"a":2}`,
		`{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s2","result":7}}`:                `7`,
	} {
		msgs, _, err := c.Decode([]byte(raw))
		if err != nil || len(msgs) != 1 || msgs[0].Kind != wire.Item || string(msgs[0].Body) != want {
			t.Fatalf("%s: %+v, %v", raw, msgs, err)
		}
		if ours := string(msgs[0].Stream) == string(stream); ours != (want != "7") {
			t.Errorf("%s is of the stream %s", raw, msgs[0].Stream)
		}
	}
}

// The id of a cancel is found where the dialect file writes it; a call that was cancelled gets no
// answer, and another of that id one.
func TestCancelled(t *testing.T) {
	c := speaks(t, "name = 'x'\n[cancel]\nnotify = 'stop'\nparams = '{why: \"so\", which: $id}'\nanswer = 'none'\n")
	msgs, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","method":"stop","params":{"which":"a"}}`))
	if err != nil || len(msgs) != 1 || msgs[0].Kind != wire.Cancel || string(msgs[0].Target) != `"a"` {
		t.Fatalf("%+v, %v", msgs, err)
	}
	req := wire.Message{Kind: wire.Request, ID: wire.ID(`"a"`), Method: "m"}
	if out, err := c.Reply(req, wire.Event{Kind: wire.Data}); err != nil || out != nil {
		t.Errorf("it is answered: %s, %v", out, err)
	}
	if _, _, err := c.Decode([]byte(`{"jsonrpc":"2.0","id":"a","method":"m"}`)); err != nil {
		t.Fatal(err)
	}
	if out, err := c.Reply(req, wire.Event{Kind: wire.Data}); err != nil || len(out) != 1 {
		t.Errorf("the next is not answered: %s, %v", out, err)
	}
}
