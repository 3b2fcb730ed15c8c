package plugin

import (
	"encoding/json"
	"testing"
)

// TestSteps checks the params of calls. The script plugin-steps checks the errors.
func TestSteps(t *testing.T) {
	named := map[string]bool{"c": true}
	results := map[string]json.RawMessage{"c": json.RawMessage(`{"$remote":{"id":"o1"}}`)}
	for text, want := range map[string]string{
		`{"destroy":"c"}`:                              `{"object_id":"o1"}`,
		`{"call":"f","args":[1,{"$step":"c"}]}`:        `{"name":"f","args":[1,{"$remote":{"id":"o1"}}]}`,
		`{"method":"get","on":"c","kwargs":{"a":1.0}}`: `{"object_id":"o1","method":"get","kwargs":{"a":1.0}}`,
		`{"call":"f","args":[{"$on":"cb"}]}`:           `{"name":"f","args":[null]}`,
	} {
		s := &step{number: 1}
		if err := s.read([]byte(text), named); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if pc, err := s.call(results); err != nil || string(pc.op.Params) != want {
			t.Errorf("%s: %s, %v", text, pc.op.Params, err)
		}
	}
}

// TestObjectID checks that an object's id or reference selects the object.
func TestObjectID(t *testing.T) {
	for _, ref := range []string{"o1", `"o1"`, `{"$remote":{"id":"o1","class":"C"}}`, `{"id":"o1"}`} {
		if got := objectID(ref); got != "o1" {
			t.Errorf("%s is %s", ref, got)
		}
	}
}
