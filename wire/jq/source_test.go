package jq

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

// A text is written as gojq writes it.
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

// What is selected keeps its text, in few values and in many, also where members come twice.
func TestWhatIsSelectedKeepsItsText(t *testing.T) {
	for n := range 3 * findsFew {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(`{"z":%d,"a":[1.0,{"y":"\u00e9","b":1e2}]}`, i))
		}
		in := "[" + strings.Join(parts, ",") + "]"
		want := `{"all":` + in + `,"first":[` + strings.Join(parts, ",") + "]}"
		for _, raw := range []string{in, `{"x":{"z":1},"x":` + in + `}`} {
			if got := ran(t, compiledProgram(t, `(.x? // .) | {first: [.[] | (.z, .) | objects], all: .}`), raw); !strings.HasPrefix(got, want) {
				t.Errorf("%s:\n got %s\nwant %s", raw, got, want)
			}
		}
	}
}

// What is decoded at once does not share memory with what it came from.
func TestDecodedIsApart(t *testing.T) {
	in := json.RawMessage(`{"a":["text",1.50]}`)
	v, err := Decode(in)
	if err != nil {
		t.Fatal(err)
	}
	clear(in)
	if got, err := Encode(v); err != nil || string(got) != `{"a":["text",1.50]}` {
		t.Errorf("%s, %v", got, err)
	}
}

func compiledProgram(t *testing.T, src string) *Program {
	t.Helper()
	p, err := Compile(src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
