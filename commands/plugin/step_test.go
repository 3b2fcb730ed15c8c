package plugin

import (
	"encoding/json"
	"testing"
)

// TestSteps checks that a step has exactly one kind of call, and can only refer to earlier steps.
func TestSteps(t *testing.T) {
	named := map[string]bool{"c": true}
	results := map[string]json.RawMessage{"c": json.RawMessage(`{"$remote":{"id":"o1"}}`)}
	for text, want := range map[string]string{
		`{"call":"f","args":[1,{"$step":"c"}]}`:        `{"name":"f","args":[1,{"$remote":{"id":"o1"}}]}`,
		`{"method":"get","on":"c","kwargs":{"a":1.0}}`: `{"object_id":"o1","method":"get","kwargs":{"a":1.0}}`,

		`{"destroy":"c"}`:                    `{"object_id":"o1"}`,
		`{"call":"f","args":[{"$on":"cb"}]}`: `{"name":"f","args":[null]}`,
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
	for text, want := range map[string]string{
		`[]`:                          "a step must be an object",
		`{"call":"f","new":"C"}`:      "it has both call and new",
		`{"method":"get"}`:            "method needs \"on\", the step that created the object",
		`{"get":"p","on":"x"}`:        `on: no earlier step is named "x"`,
		`{"set":"p","on":"c"}`:        "set takes one value, in args",
		`{"call":"f","arg":[]}`:       `a step cannot have the member "arg"`,
		`{"call":"f","args":{"a":1}}`: "args must be an array",
		`{"call":"f","on":"c"}`:       "call takes no \"on\"",
	} {
		if err := (&step{number: 1}).read([]byte(text), named); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
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
