package batch

import (
	"context"
	"encoding/json"
	"testing"

	"rpcx/wire"
)

// TestLines: a line is known by its id, else by its number, and a malformed one gets
// the error that a peer would give.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		line, id string
		code     int
	}{
		{`{"method":"m","id":"a"}`, `"a"`, 0},
		{`{"method":"m","params":[1]}`, "3", 0},
		{`{"method":"m","id":null}`, "null", 0},
		{`{"method"`, "3", wire.CodeParse},
		{`[]`, "3", wire.CodeParse},
		{`{"id":1}`, "1", wire.CodeInvalidRequest},
		{`{"method":"m","params":1}`, "3", wire.CodeInvalidRequest},
	} {
		j := &job{number: 3, line: []byte(c.line)}
		if got := string(j.id()); got != c.id {
			t.Errorf("%s: id %s", c.line, got)
		}
		_, err := (&batch{}).read(context.Background(), j)
		if c.code == 0 && err != nil || c.code != 0 && (wire.AsError(err) == nil || string(wire.AsError(err).Code) != string(wire.Errorf(c.code, "").Code)) {
			t.Errorf("%s: %v", c.line, err)
		}
	}
	if got := string(answerLine([]byte("1"), "result", json.RawMessage("{\n\"a\": 1.10}"))); got != `{"id":1,"result":{"a":1.10}}` {
		t.Error(got)
	}
	if got := string(answerLine([]byte("1"), "result", nil)); got != `{"id":1,"result":null}` {
		t.Error(got)
	}
}
