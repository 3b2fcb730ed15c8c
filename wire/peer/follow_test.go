package peer_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// A talker is a dialect in which the peer sends streams without a request: "item STREAM ID TEXT", in which - stands for no stream
// or id, and the text "end" ends the stream. Subscribing to "follow STREAM" sends nothing.
type talker struct{ dialect.Codec }

func (c talker) Abilities() dialect.Abilities {
	a := c.Codec.Abilities()
	a.Unsolicited = true
	return a
}

func (c talker) Encode(op dialect.Op) (wire.Message, error) {
	if stream, ok := strings.CutPrefix(op.Method, "follow "); ok {
		return wire.Message{Stream: wire.ID(stream)}, nil
	}
	m, err := c.Codec.Encode(op)
	m.Final = false
	return m, err
}

func (c talker) Decode(raw []byte) ([]wire.Message, bool, error) {
	words := strings.SplitN(string(raw), " ", 4)
	if words[0] != "item" {
		return c.Codec.Decode(raw)
	}
	m := wire.Message{Kind: wire.Item, Stream: wire.ID(words[1]), Raw: raw, Body: []byte(words[3]), Final: words[3] == "end"}
	if words[2] != "-" {
		m.ID = wire.ID(words[2])
	}
	return []wire.Message{m}, false, nil
}

// Opened reports that a call stays open after the response "more".
func (talker) Opened(_ dialect.Op, resp wire.Message) (wire.ID, bool) {
	return nil, string(resp.Body) != `"more"`
}

// TestFollow checks that an item belongs to the call whose id it has, that subscribers that follow its stream get it, too, and that
// an unrequested item ends no call.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		p := peer.New(near, talker{jsonrpc.NewCodec(jsonrpc.Options{})}, peer.Options{})
		defer p.Close()
		want := func(st dialect.Stream, want string) {
			t.Helper()
			m, err := st.Next(t.Context())
			if got := string(m.Body); err == nil && got != want || err != nil && (err != io.EOF || want != "EOF") {
				t.Errorf("got %s %v, want %s", got, err, want)
			}
		}
		one, two := testkit.Start(t, p, dialect.Subscribe, "follow s", ""), testkit.Start(t, p, dialect.Subscribe, "follow s", "")
		call := testkit.Start(t, p, dialect.Call, "m", "")
		for _, msg := range []string{
			`item s - unasked`, `item other - end`, // does not end the pending call
			`{"id":1,"result":"more"}`, `item s 1 hers`, `item t 1 end`, `item s - end`,
		} {
			far.Send([]byte(msg))
		}
		want(call, `"more"`)
		want(call, "hers")
		want(call, "end")
		want(call, "EOF")
		for _, st := range []dialect.Stream{one, two} {
			want(st, "null")
			want(st, "unasked")
			want(st, "hers")
			want(st, "end")
			want(st, "EOF")
		}
		left := testkit.Start(t, p, dialect.Subscribe, "follow s", "")
		if ours, _ := p.Pending(); ours != 1 {
			t.Errorf("%d calls are pending, want 1", ours)
		}
		testkit.OK(t, left.Cancel(t.Context()))
		want(left, "EOF")
		lost := testkit.Start(t, p, dialect.Subscribe, "follow s", "")
		far.Close()
		want(lost, "null")
		synctest.Wait()
		testkit.Expect(t, "after the connection ended", testkit.Next(t, lost), "failed closed")
	})
}

// If the reader never stops, a call with many unread items ends.
func TestALossyCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		p := peer.New(near, talker{jsonrpc.NewCodec(jsonrpc.Options{})}, peer.Options{StreamBuffer: 64 << 10, Lossy: true})
		defer p.Close()
		call := testkit.Start(t, p, dialect.Call, "m", "")
		for range 300 {
			testkit.OK(t, far.Send([]byte("item - 1 "+strings.Repeat("x", 1000))))
		}
		synctest.Wait()
		_, err := call.Next(t.Context())
		for err == nil {
			_, err = call.Next(t.Context())
		}
		if f := wire.AsFault(err); f == nil || f.Kind != wire.IO || !strings.Contains(f.Message, "a session does not wait") {
			t.Error(err)
		}
	})
}
