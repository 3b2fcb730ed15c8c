package redact

import (
	"bytes"
	"testing"
)

// nextAnchor finds each anchor and no other byte.
func TestNextAnchor(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			for _, around := range []byte("az09/\xff") {
				text := bytes.Repeat([]byte{around}, 20)
				text[at] = byte(c)
				want := len(text)
				if anchors[c] && (c != ' ' || at >= 16) { // a blank that follows no scheme may be skipped
					want = at
				}
				if got := nextAnchor(text, 0); got != want {
					t.Fatalf("%#x at %d in %q: found at %d", c, at, around, got)
				}
			}
		}
	}
	if got := nextAnchor([]byte("the bearer of the news"), 0); got != len("the bearer") {
		t.Error(got)
	}
}
