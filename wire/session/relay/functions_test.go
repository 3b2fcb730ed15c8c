package relay

import (
	"context"
	"encoding/json"
	"testing"

	"rpcx/wire/dialect"
)

type someone struct{ dialect.Caller }

func (someone) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`"here"`), nil
}

// The functions of a process are known until it goes, those of others stay.
func TestFunctionsGoWithTheirProcess(t *testing.T) {
	s := &Socket{Functions: &Functions{}, ServerOptions: ServerOptions{Owner: unowned{}}}
	one, two := &Process{socket: s, client: someone{}}, &Process{socket: s, client: someone{}}
	first, second := s.enter(one, "f"), s.enter(two, "f")
	if first == second {
		t.Fatalf("both are %q", first)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if client, plain, ok := s.of(first); client != nil || plain != "f" || !ok {
		t.Errorf("of a process that is gone: %v, %q, %v", client, plain, ok)
	}
	if client, _, ok := s.of(second); client == nil || !ok {
		t.Errorf("of one that is there: %v, %v", client, ok)
	}
	if len(s.clients) != 1 {
		t.Errorf("%d processes are kept", len(s.clients))
	}
}
