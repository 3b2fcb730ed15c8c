package ro

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// A worker sends the given events in response to a job, until sending fails.
type worker struct {
	dialect.Responder
	says []wire.Event
	fail error
	said *[]string // the result of each send
}

func (worker) Kind(string) (catalog.Kind, bool) { return catalog.Job, true }

func (w worker) Respond(_ context.Context, r dialect.Request) (json.RawMessage, error) {
	if err := r.Begin(); err != nil {
		return nil, err
	}
	for _, ev := range w.says {
		err := r.Emit(ev)
		*w.said = append(*w.said, fmt.Sprint(err))
		if err != nil {
			return nil, err
		}
	}
	return nil, w.fail
}

// The events of a job are results, and the last one is the return. If one cannot be sent, the worker's context ends.
func TestResultsOfAJob(t *testing.T) {
	data := func(text string) wire.Event { return wire.Event{Kind: wire.Data, Data: json.RawMessage(text)} }
	gone := errors.New("gone")
	for _, c := range []struct {
		says []wire.Event
		fail error
		room int // the number of messages that can be sent
		want string
		said string
	}{
		{nil, nil, 9, `accepted; return {"status":"done"}`, ``},
		{[]wire.Event{data(`1`)}, nil, 9, `accepted; return {"status":"done","result":1}`, `<nil>`},
		{[]wire.Event{data(`1`), data(`{"a":2}`)}, nil, 9, `accepted; yield {"status":"pending","data":1}; return {"status":"done","a":2}`, `<nil> <nil>`},
		{[]wire.Event{data(`{"status":"done","a":1}`), data(`2`)}, nil, 9, `accepted; return {"status":"done","a":1}`, `<nil> context canceled`},
		{[]wire.Event{data(`{"status":"error"}`)}, nil, 9, `accepted; return {"status":"error"}`, `<nil>`},
		{[]wire.Event{{Kind: wire.Progress, Message: "m", Fraction: json.RawMessage("0.5")}}, nil, 9, `accepted; yield {"status":"pending","progress":50,"message":"m"}; return {"status":"done"}`, `<nil>`},
		{[]wire.Event{{Kind: wire.Failure, Err: wire.NewError(7, "no")}}, nil, 9, `accepted; return {"status":"error","message":"no","error":{"code":7,"message":"no"}}`, `<nil>`},
		{nil, wire.NewError(7, "no"), 9, `accepted; return {"status":"error","message":"no","error":{"code":7,"message":"no"}}`, ``},
		{[]wire.Event{data(`1`)}, nil, 0, `; ; gone`, ``},
		{[]wire.Event{data(`1`)}, nil, 1, `accepted; ; gone`, `<nil>`},
		{[]wire.Event{data(`1`), data(`2`), data(`3`)}, nil, 1, `accepted; ; ; gone`, `<nil> gone`},
		{[]wire.Event{{Kind: wire.Progress}}, nil, 1, `accepted; ; ; gone`, `gone`},
	} {
		var sent, said []string
		in := &dialect.Inbound{Msg: wire.Message{ID: wire.ID("1")}}
		in.Emit = func(ev wire.Event) error {
			if len(sent) >= c.room {
				sent = append(sent, "")
				return gone
			}
			what := map[bool]string{true: "return ", false: "yield "}[ev.Final] + string(ev.Data)
			if ev.Stream == nil {
				what = "accepted"
			}
			sent = append(sent, what)
			return nil
		}
		h := &handler{server: &server{methods: func() map[string]*catalog.Method { return nil }}, r: worker{says: c.says, fail: c.fail, said: &said}}
		err := h.answerLater(t.Context(), in, Address{Method: "a.do", Resource: "a", Verb: "do"}, dialect.Request{Method: "a:do"}, catalog.Job)
		if err != nil {
			sent = append(sent, err.Error())
		}
		if got := strings.Join(sent, "; "); got != c.want {
			t.Errorf("%v: sent\n     %s\nwant %s", c.says, got, c.want)
		}
		if got := strings.Join(said, " "); got != c.said {
			t.Errorf("%v: the worker got %s, want %s", c.says, got, c.said)
		}
	}
}
