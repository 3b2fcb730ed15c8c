package session

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/session/relay"
	"rpcx/wire/testkit"
)

// In a hook, @ is the connection of the hook's request.
func TestCallsOfAHook(t *testing.T) {
	for _, prefix := range []string{"", "header+", "jsonrpc1+"} {
		t.Run(prefix, func(t *testing.T) {
			w := newWorld(t, prefix, where)
			c := w.client(
				`add=jq:.[0] + .[1]`, `digits=json:[1.10,12345678901234567890]`, `echo=cat`,
				`no=jq:fail(7; "no <way>")`, `three=lines:seq 3`, `bad=lines:echo 1; echo '{"error":"oops"}'`,
				`note=cat > $T/note`)
			r := w.open(w.back(c))
			for _, tt := range [][3]string{
				{"add", "[1,2]", "3"},
				{"digits", "", "[1.10,12345678901234567890]"},
				{"echo", `{"z":1,"a":"é <&> \u0000\n"}`, `{"z":1,"a":"é <&> \u0000\n"}`},
				{"no", "", `error {"code":7,"message":"no <way>"}`},
				{"nothing", "", `error {"code":-32601,"message":"method not found: nothing"}`},
			} {
				testkit.Expect(t, tt[0], w.call(r, tt[0], tt[1]), tt[2])
			}
			testkit.Expect(t, "a stream", strings.Join(w.items(r, "three"), " "), "1 2 3 end")
			testkit.Expect(t, "a stream that fails", strings.Join(w.items(r, "bad"), " "), `1 error {"code":-32000,"message":"oops"}`)
			testkit.OK(t, r.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "note", Params: json.RawMessage(`["x"]`)}))
			testkit.Expect(t, "the params of a notification", w.read("note"), `["x"]`)
			if _, err := r.Describe(t.Context()); !errors.Is(err, wire.ErrUnsupported) {
				t.Errorf("describe: %v", err)
			}
			_, err := r.Raw()
			testkit.Expect(t, "raw traffic", testkit.Failed(err), "failed usage")
		})
	}
}

// items returns the events of a subscription and how it ended.
func (w *world) items(c Conversation, method string) (got []string) {
	w.t.Helper()
	st := w.start(c, dialect.Subscribe, method, "")
	for {
		m, err := st.Next(w.t.Context())
		if err != nil {
			return append(got, testkit.Failed(err))
		}
		ev, err := dialect.EventOf(c, m)
		switch {
		case err != nil:
			return append(got, testkit.Failed(err))
		case ev.Err != nil:
			return append(got, "error "+string(ev.Err.JSON()))
		case ev.Kind == wire.Done:
			return append(got, "end")
		case m.Kind == wire.Item:
			got = append(got, string(ev.Data))
		}
	}
}

// A hook gets the same description of the peer as other callers.
func TestCallsOfAHookDescribe(t *testing.T) {
	w := newWorld(t, "", `go=jq:rpc("where"; null)`, "one=json:1")
	c := w.client(where)
	var at string
	testkit.OK(t, json.Unmarshal([]byte(w.call(c, "go", "")), &at))
	testkit.Expect(t, "a call through the client's endpoint", w.call(w.open(at), "one", ""), "1")
}

// Messages that fit through the connection, however large or deep, also fit through the socket.
func TestCallsOfAHookWithLargeMessages(t *testing.T) {
	w := newWorld(t, "", where)
	r := w.open(w.back(w.client(`echo=jq:.`)))
	deep := strings.Repeat("[", 990) + strings.Repeat("]", 990)
	if got := w.call(r, "echo", deep); got != deep {
		t.Errorf("a deep message: %.80s", got)
	}
	long := `["` + strings.Repeat("x", 4<<20) + `"]`
	if got := w.call(r, "echo", long); got != long {
		t.Errorf("a long message: %.80s (%d bytes)", got, len(got))
	}
}

// Concurrent calls in both directions get their own responses.
func TestManyCallsOfHooks(t *testing.T) {
	w := newWorld(t, "", where, "up=jq:.[0] + 1")
	at := w.back(w.client("down=jq:.[0] - 1"))
	var wg sync.WaitGroup
	for range 8 {
		r := w.open(at)
		wg.Go(func() {
			for range 20 {
				testkit.Expect(t, "a function", w.call(r, "down", "[5]"), "4")
			}
		})
	}
	wg.Wait()
}

// When the connection ends, all pending calls fail at once with the reason.
func TestConnectionEndsDuringACallOfAHook(t *testing.T) {
	w := newWorld(t, "", where)
	nc, err := net.Dial("unix", strings.TrimPrefix(w.at, "unix:"))
	testkit.OK(t, err)
	defer nc.Close()
	lines := bufio.NewReader(nc)
	read := func() (m struct {
		ID             json.RawMessage
		Method, Result string
	},
	) {
		line, _ := lines.ReadString('\n')
		json.Unmarshal([]byte(line), &m)
		return m
	}
	io.WriteString(nc, `{"jsonrpc":"2.0","id":1,"method":"where"}`+"\n")
	r := w.open(read().Result)
	call := w.start(r, dialect.Call, "hang", "")
	testkit.Expect(t, "the method of the call", read().Method, "hang")
	stream := w.start(r, dialect.Subscribe, "tick", "")
	fmt.Fprintf(nc, `{"jsonrpc":"2.0","id":%s,"result":"s"}`+"\n", read().ID)
	io.WriteString(nc, `{"jsonrpc":"2.0","method":"tick","params":{"subscription":"s","result":1}}`+"\n")
	testkit.Expect(t, "the stream's name", w.next(stream), `"s"`)
	testkit.Expect(t, "an item", w.next(stream), "1")
	nc.Close()
	testkit.Expect(t, "the call", w.next(call), "failed closed")
	testkit.Expect(t, "the stream", w.next(stream), "failed closed")
	if got := w.call(r, "hang", ""); got != "failed closed" && got != "failed unreachable" {
		t.Errorf("another call: %s", got)
	}
}

// A client that closes normally still sends its responses, and reports the reason.
func TestClientClosesDuringACallOfAHook(t *testing.T) {
	w := newWorld(t, "", where)
	c := w.client(`hang=echo $$ > $T/pid; exec sleep 1000`)
	call := w.start(w.open(w.back(c)), dialect.Call, "hang", "")
	w.read("pid")
	c.Close()
	testkit.Expect(t, "the call", w.next(call), `error {"code":-32603,"message":"the connection is being closed"}`)
	w.gone("pid")
}

// A server can close while calls through its socket are pending.
func TestServerClosesDuringACallOfAHook(t *testing.T) {
	w := newWorld(t, "", where)
	r := w.open(w.back(w.client(`hang=echo $$ > $T/pid; exec sleep 1000`)))
	call := w.start(r, dialect.Call, "hang", "")
	w.read("pid")
	testkit.OK(t, w.server.Close())
	testkit.Expect(t, "the call", w.next(call), "failed closed")
	w.gone("pid")
}

// An error crosses the socket unchanged.
func TestFaultsCrossTheSocket(t *testing.T) {
	yes := true
	for _, f := range []*wire.Fault{
		{Kind: wire.Closed, Message: "gone", Close: &wire.CloseError{Code: 1011, Reason: "why"}},
		{Kind: wire.Closed, Message: "died", Child: &wire.Child{Command: "x", Exit: 3, Stderr: []string{"oh"}}},
		{Kind: wire.Auth, Message: "401", HTTP: &wire.HTTP{Status: 401, Body: "no"}, Hint: "a token", Method: "m"},
		{Kind: wire.Unreachable, Message: "later", Retryable: &yes},
	} {
		got := wire.AsFault(relay.FromRPC(relay.ToRPC(f)))
		if !reflect.DeepEqual(got, f) {
			t.Errorf("%+v\nbecame %+v", f, got)
		}
	}
	testkit.Expect(t, "a timeout", testkit.Failed(relay.FromRPC(relay.ToRPC(context.DeadlineExceeded))), "failed timeout")
	rpc := wire.NewError(7, "no").WithData([]int{1})
	got := wire.AsFault(relay.FromRPC(relay.ToRPC(rpc)))
	if got.Kind != wire.RPCError || string(got.RPC.JSON()) != string(rpc.JSON()) {
		t.Errorf("%v became %+v", rpc, got)
	}
}
