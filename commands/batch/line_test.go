package batch

import (
	"context"
	"encoding/json"
	"testing"

	"rpcx/commands/request"
	"rpcx/wire"
)

// TestLines checks that a response has the line's id or number, and that a malformed line gets the error that a peer
// would return.
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
		j := &job{}
		j.set(3, []byte(c.line))
		(&batch{Request: &request.Request{}}).read(context.Background(), j)
		if got := string(j.id); got != c.id {
			t.Errorf("%s: id %s", c.line, got)
		}
		if err := j.bad; c.code == 0 && err != nil || c.code != 0 && (wire.AsError(err) == nil || string(wire.AsError(err).Code) != string(wire.Errorf(c.code, "").Code)) {
			t.Errorf("%s: %v", c.line, err)
		}
	}
	j := &job{id: []byte("1")}
	if j.answerWith("result", json.RawMessage("{\n\"a\": 1.10}")); string(j.answer) != `{"id":1,"result":{"a":1.10}}` {
		t.Errorf("%s", j.answer)
	}
	if j.answerWith("result", nil); string(j.answer) != `{"id":1,"result":null}` {
		t.Errorf("%s", j.answer)
	}
}
