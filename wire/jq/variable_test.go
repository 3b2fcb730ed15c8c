package jq

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"rpcx/wire/testkit"
)

// A declared variable keeps its text where a program only selects it.
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
	for src, path := range map[string]bool{"$params.a": true, ".x[0]": true, ".": true, ".a | .b": true, "$params": true, ".a + 1": false, "{a}": false} {
		p, err := Compile(src, Options{Declared: []string{"params"}})
		if err != nil || p.IsPath() != path {
			t.Errorf("%s: IsPath is not %v (%v)", src, path, err)
		}
	}
	if _, err := Compile("$parms", Options{Declared: []string{"params"}}); err == nil {
		t.Error("a variable that was not declared is compiled")
	}
}

// Strings are written as gojq writes them.
func TestTextIsWrittenAsGojqDoes(t *testing.T) {
	pieces := []string{"a", "text", "\"", "\\", "/", "\x00", "\n", "\x1f", " ", "~", "\x7f", "é", "\u2028", "😀", "\xff", "\xed\xa0\x80", "<>&", strings.Repeat("x", 40)}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := ""
		for range r.IntN(6) {
			text += pieces[r.IntN(len(pieces))]
		}
		want, err := gojq.Marshal(text)
		if got := appendText([]byte("before"), text); err != nil || string(got) != "before"+string(want) {
			t.Fatalf("%q: %s, want %s, %v", text, got, want, err)
		}
	}
}

// Selected values keep their text, whether the input has few or many values, and with duplicate members.
func TestSelectedValuesKeepTheirText(t *testing.T) {
	for n := range 12 {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(`{"z":%d,"a":[1.0,{"y":"\u00e9","b":1e2}]}`, i))
		}
		in := "[" + strings.Join(parts, ",") + "]"
		want := `{"all":` + in + `,"first":[` + strings.Join(parts, ",") + "]}"
		for _, raw := range []string{in, `{"x":{"z":1},"x":` + in + `}`} {
			if got := ran(t, compiled(t, `(.x? // .) | {first: [.[] | (.z, .) | objects], all: .}`, Options{}), raw); !strings.HasPrefix(got, want) {
				t.Errorf("%s:\n got %s\nwant %s", raw, got, want)
			}
		}
	}
}

// Decoded values do not share memory with the input.
func TestDecodedIsApart(t *testing.T) {
	in := json.RawMessage(`{"a":["text",1.50]}`)
	v, err := Decode(in)
	testkit.OK(t, err)
	clear(in)
	if got := string(Encode(v)); got != `{"a":["text",1.50]}` {
		t.Error(got)
	}
}
