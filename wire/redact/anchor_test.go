package redact

import (
	"bytes"
	"testing"

	"rpcx/wire/testkit"
)

// nextAnchor finds all anchors and no other bytes.
func TestNextAnchor(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			for _, around := range []byte("az09/\xff") {
				text := bytes.Repeat([]byte{around}, 20)
				text[at] = byte(c)
				want := len(text)
				if anchors[c] && (c != ' ' || at >= 16) { // a blank is an anchor only after a scheme
					want = at
				}
				if got := nextAnchor(text, 0); got != want {
					t.Fatalf("%#x at %d in %q: found at %d", c, at, around, got)
				}
			}
		}
	}
	testkit.Expect(t, "the place of a scheme", nextAnchor([]byte("the bearer of the news"), 0), len("the bearer"))
}
