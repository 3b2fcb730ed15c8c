package transport

import (
	"net/url"
	"testing"
)

func TestRedactURL(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"http://u:p@h/x", "http://h/x"},
		{"http://h/x?token=abc&y", "http://h/x?token=…&y"},
		{"http://h/x?", "http://h/x?"},
		{"http://h/x#secret", "http://h/x"},
	} {
		u, err := url.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := RedactURL(u); got != c.want {
			t.Errorf("GOLD %q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}
