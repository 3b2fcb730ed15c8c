package params

import "testing"

// TestRepaired: what was meant is proposed where it can be told, and never text in place
// of an object.
func TestRepaired(t *testing.T) {
	for text, want := range map[string]string{
		`{"id": o_001}`:                 `{"id": "o_001"}`,
		`{id: "o_001"}`:                 `{"id": "o_001"}`,
		`{'id':'o_001', "n": 1}`:        `{"id":"o_001", "n": 1}`,
		`{"a":[1,2,],}`:                 `{"a":[1,2]}`,
		`[newHeads]`:                    `["newHeads"]`,
		`{"a": True, "b": -1e5}`:        `{"a": "True", "b": -1e5}`,
		`{"a:b": "it's, {x}", b: null}`: `{"a:b": "it's, {x}", "b": null}`,
		`[1,2`:                          "", `{"a" 1}`: "", `{"a":"`: "", `hello`: "", ``: "",
	} {
		got, ok := repaired(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s, %t; want %s", text, got, ok, want)
		}
	}
}
