package batch

import (
	"encoding/json"
	"testing"
)

// TestAnswers checks that a result is on one line, and that a missing result is null.
func TestAnswers(t *testing.T) {
	j := &job{id: []byte("1")}
	if j.answerWith("result", json.RawMessage("{\n\"a\": 1.10}")); string(j.answer) != `{"id":1,"result":{"a":1.10}}` {
		t.Errorf("%s", j.answer)
	}
	if j.answerWith("result", nil); string(j.answer) != `{"id":1,"result":null}` {
		t.Errorf("%s", j.answer)
	}
}
