package wire

import (
	"bytes"
	"testing"
)

// Close writes the text that Open can read.
func FuzzAround(f *testing.F) {
	for _, text := range []string{"{}\x1e{\"type\":6}\x1e", `42["a",1]`, "2", `40{"sid":"x"}`, "", "[1]\x1e2", "\x1e\x1e", "4\x00{", "007{\"a\":\"\x1e\"}"} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, digits bool) {
		before := ""
		if digits {
			before = "[0-9]*"
		}
		a := NewAround(before, "\x1e")
		var back []byte
		for _, msg := range a.Open(text) {
			back = append(back, a.Close(bytes.Clone(msg))...)
		}
		for _, msg := range NewAround(before, "").Open(text) {
			if again := NewAround(before, "").Close(msg); !digits && !bytes.Equal(again, text) {
				t.Errorf("%q → %q → %q", text, msg, again)
			}
		}
		if !digits && !bytes.Equal(back, append(bytes.TrimSuffix(bytes.Clone(text), []byte("\x1e")), 0x1e)) {
			t.Errorf("%q: got %q", text, back)
		}
	})
}

func TestAroundDigits(t *testing.T) {
	a := NewAround("[0-9]*", "")
	for text, want := range map[string]string{`42["a"]`: `["42",["a"]]`, "2": `["2"]`, "": `[""]`, `{"a":1}`: `["",{"a":1}]`, "x": `["",x]`} {
		msgs := a.Open([]byte(text))
		if len(msgs) != 1 || string(msgs[0]) != want || string(a.Close(msgs[0])) != text && text != "x" {
			t.Errorf("%q: got %q", text, msgs)
		}
	}
	if got := a.Close([]byte(`{"a":1}`)); string(got) != `{"a":1}` {
		t.Errorf("%s", got)
	}
}

// In a dialect that has no sessions, rules for POSTs begin none.
func TestPostsWithoutSessions(t *testing.T) {
	posts := &HTTPPosts{}
	s := (*HTTPSessions)(nil).WithPosts(posts)
	if begins, primes := s.Begins(nil); begins || primes || s.Posts != posts {
		t.Error(begins, primes, s)
	}
}
