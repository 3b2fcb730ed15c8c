package request

import (
	"context"
	"io"
	"net/url"
	"testing"

	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/session"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// codecConversation implements only the method Event of a conversation.
type codecConversation struct {
	session.Conversation
	dialect.Codec
}

func (c codecConversation) Event(m *wire.Message, ev *wire.Event) error { return c.Codec.Event(m, ev) }

// Printing a stream, as items or as whole messages (--messages), does not allocate.
func TestPrintingAStreamAllocatesNothing(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	raw := []byte(`{"jsonrpc":"2.0","method":"tick","params":{"n":12345678901234567890,"deep":{"list":[1.50,"x"]},"text":"a\u00e9b"}}`)
	for name, o := range map[string]format.Options{
		"payload": {}, "raw": {Raw: true}, "identity": {JQ: "."}, "path": {JQ: ".deep.list"}, "number": {JQ: ".n"},
		"long path": {JQ: ".deep.list[1]"}, "--until": {Until: ".done"},
	} {
		t.Run(name, func(t *testing.T) {
			print, err := format.New(io.Discard, o)
			testkit.OK(t, err)
			codec := jsonrpc.NewCodec(jsonrpc.Options{})
			c := NewResponsePrinter(&env.Env{Console: format.NewConsole(io.Discard, format.ConsoleOptions{})},
				codecConversation{Codec: codec}, print, env.NewDeadline(t.Context(), 0, 0))
			c.Stream, c.Watch = true, &dialect.Op{}
			once := func() {
				msgs, _, err := codec.Decode(raw)
				if err != nil || len(msgs) != 1 {
					t.Fatal(msgs, err)
				}
				if stop, err := c.message(&msgs[0]); stop || err != nil {
					t.Fatal(stop, err)
				}
			}
			if got := testing.AllocsPerRun(1000, once); got > 0 {
				t.Errorf("%v allocations per message", got)
			}
		})
	}
}

type testLogin string

func (l testLogin) Token(context.Context, *url.URL, string) (string, error) { return "", nil }

func (l testLogin) Identity(transport.Address) string { return string(l) }

// TestAnswersOfALogin checks that the cache separates responses by login.
func TestAnswersOfALogin(t *testing.T) {
	e, err := session.ParseEndpoint("ws://127.0.0.1:1/", "")
	testkit.OK(t, err)
	seen := map[string]bool{}
	for _, l := range []testLogin{"", "ann", "bob"} {
		cfg := transport.Config{HTTPObserver: transport.HTTPObserver{Login: l}}
		s := AnswersOf(e, cfg)
		if s.Private != (l != "") || seen[s.Of] {
			t.Errorf("the login %q shares cached results with another login, or Private is wrong", l)
		}
		seen[s.Of] = true
	}
}
