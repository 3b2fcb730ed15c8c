package profile

import "testing"

// Comments and trailing commas are removed, but not inside strings. Truncated input causes no endless loop.
func TestWithoutComments(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": "http://x" // a comment` + "\n}": `{"a": "http://x"}`,
		`{"a": [1, 2,], /* b */ "c": 3,}`:       `{"a": [1, 2],  "c": 3}`,
		`{"a": "\"//,}"}`:                       `{"a": "\"//,}"}`,
		`{"a": "`:                               `{"a": "`,
		`{"a": "\`:                              `{"a": "\`,
		`// only`:                               "",
		`1 /* open`:                             `1 `,
		`/`:                                     `/`,
	} {
		got := string(withoutComments([]byte(in)))
		if got != want && got != want+"\n" {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}
