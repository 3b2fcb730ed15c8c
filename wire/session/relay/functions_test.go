package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

type someone struct{ dialect.Caller }

func (someone) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`"here"`), nil
}

func (someone) Notify(_ context.Context, op dialect.Op) error {
	return errors.New("notified of " + op.Method)
}

// The functions of a process are available until the process ends. Those of other processes stay available.
func TestFunctionsGoWithTheirProcess(t *testing.T) {
	s := &Socket{Functions: &Functions{}}
	one, two := &Process{socket: s, client: someone{}, number: "1"}, &Process{socket: s, client: someone{}, number: "2"}
	first, second := s.enter(one, "f"), s.enter(two, "f")
	if first == second {
		t.Fatalf("the functions of two processes have the same name: %q", first)
	}
	testkit.OK(t, one.Close())
	if client, plain, ok := s.of(first); client != nil || plain != "f" || !ok {
		t.Errorf("the function of an ended process: %v, %q, %v", client, plain, ok)
	}
	if client, _, ok := s.of(second); client == nil || !ok {
		t.Errorf("the function of a running process: %v, %v", client, ok)
	}
	testkit.Expect(t, "registered processes", len(s.clients), 1)
}

// offers is a Responder with one hook.
type offers struct{ dialect.Responder }

func (offers) Kind(method string) (catalog.Kind, bool) { return catalog.Call, method == "hooked" }

func (offers) Respond(context.Context, dialect.Request) (json.RawMessage, error) {
	return json.RawMessage(`"hook"`), nil
}

// failing is a connection whose calls fail.
type failing struct {
	dialect.Caller
	err error
}

func (f failing) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, f.err
}

// The result of a function is passed on as an item only if items are expected. A failure is not passed on.
func TestFunctionsAnswer(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		client  dialect.Caller
		stream  bool
		refused error // what the receiver of items returns
		want    string
	}{
		{someone{}, false, nil, `"here" <nil>`},
		{someone{}, true, nil, `item "here"; "here" <nil>`},
		{someone{}, true, broken, `item "here"; "here" broken`},
		{failing{err: broken}, true, nil, ` broken`},
		{failing{err: broken}, false, nil, ` broken`},
		{failing{err: wire.NewFault(wire.Closed, "it has gone", nil)}, true, nil, ` the process that defined the function has ended`},
	} {
		f := &Functions{}
		name := f.enter(&Process{client: c.client}, "f")
		var got string
		q := dialect.Request{Method: name, Stream: c.stream, Emit: func(ev wire.Event) error {
			got += "item " + string(ev.Data) + "; "
			return c.refused
		}}
		out, err := functionResponder{offers{}, f}.Respond(t.Context(), q)
		text := fmt.Sprint(err)
		if rpc := new(wire.Error); errors.As(err, &rpc) {
			text = rpc.Message
		}
		if got += string(out) + " " + text; got != c.want {
			t.Errorf("stream %v: %s, want %s", c.stream, got, c.want)
		}
	}
	if _, err := askFallback(t.Context(), someone{}, dialect.Request{Method: "m", Notification: true}); err == nil || err.Error() != "notified of m" {
		t.Errorf("a notification: %v", err)
	}
	if _, err := askFallback(t.Context(), failing{err: wire.NewFault(wire.Closed, "it has gone", nil)}, dialect.Request{Method: "m"}); wire.AsError(err) == nil {
		t.Errorf("a process that has gone: %v", err)
	}
	r := functionResponder{offers{}, &Functions{}}
	if out, err := r.Respond(t.Context(), dialect.Request{Method: "hooked"}); string(out) != `"hook"` || err != nil {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := r.Respond(t.Context(), dialect.Request{Method: functionPrefix + "1" + functionEnd + "f"}); err == nil {
		t.Error("a function without a process got a response")
	}
}
