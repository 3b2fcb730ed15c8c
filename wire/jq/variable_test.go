package jq

import (
	"encoding/json"
	"testing"
)

// Declared variables have their values in each run, as they stand where a program only
// selects them.
func TestDeclared(t *testing.T) {
	vals := func(name string) json.RawMessage {
		return map[string]json.RawMessage{
			"params": json.RawMessage(`{"z":1.10,"a":{"y":12345678901234567890,"b":[1]}}`),
			"id":     json.RawMessage(`7`),
		}[name]
	}
	for src, want := range map[string]string{
		"$params":                      `{"z":1.10,"a":{"y":12345678901234567890,"b":[1]}}`,
		"$params.a":                    `{"y":12345678901234567890,"b":[1]}`,
		"$params.z":                    `1.10`,
		"$params.a.b[0]":               `1`,
		"$params.nothing":              `null`,
		"$method":                      `null`,
		"{id: $id, p: $params.a}":      `{"id":7,"p":{"y":12345678901234567890,"b":[1]}}`,
		"$params | .a.b | length":      `1`,
		"$params.a.b[]":                `1`,
		".in == $id":                   `true`,
		"[.in, $params.a.y]":           `[7,12345678901234567890]`,
		"def f: $id; $params | .z + f": `8.1`,
		". as $params | $params.in":    `7`,
		"$params.a // {}":              `{"y":12345678901234567890,"b":[1]}`,
	} {
		p, err := Compile(src, Options{Declared: []string{"method", "params", "id"}})
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		var got string
		err = p.RunWith(t.Context(), json.RawMessage(`{"in":7}`), vals, func(out json.RawMessage) (bool, error) {
			got += string(out)
			return true, nil
		})
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", src, got, err, want)
		}
	}
	for src, path := range map[string]bool{"$params.a": true, ".x[0]": true, ".": true, ".a | .b": false, "$params": true, ".a + 1": false, "{a}": false} {
		p, err := Compile(src, Options{Declared: []string{"params"}})
		if err != nil || p.IsPath() != path {
			t.Errorf("%s: IsPath is not %v (%v)", src, path, err)
		}
	}
	if _, err := Compile("$parms", Options{Declared: []string{"params"}}); err == nil {
		t.Error("a variable that was not declared is compiled")
	}
}
