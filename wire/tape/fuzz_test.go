package tape

import (
	"bytes"
	"io"
	"testing"
	"unicode/utf8"

	"rpcx/wire/testkit"
)

// Writing and reading a tape does not change it.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		`{"t":0.0132,"dir":"send","msg":{"id":1}}`, `{"t":1,"open":{"endpoint":"x"}}`, `{"t":0,"dir":"recv","text":"a\n"}` + "\n" + `{"note":"x"}`,
		`{"dir":"recv","match":".a","bind":{"k":".k"},"name":"n","re":"m"}`, `{"dir":"recv","close":{"code":1000,"child":{"exit":1}}}`, `{"t":1e3,"dir":"recv","base64":"/wA="}`,
		`{"http":{"method":"GET","url":"/","request":[["a","b"]],"times":{"start":1}}}`, `{"t":0,"dir":"send","msg":`,
	} {
		f.Add([]byte(header + s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !utf8.Valid(in) {
			return // invalid UTF-8 becomes U+FFFD
		}
		r, err := NewReader(bytes.NewReader(in), "x")
		if err != nil {
			return
		}
		for {
			l, err := r.Next()
			if err != nil {
				if err != io.EOF && err.Error() == "" {
					t.Error("an error without words")
				}
				return
			}
			again, err := NewReader(bytes.NewReader(l.Append([]byte(header))), "y")
			testkit.OK(t, err)
			got, err := again.Next()
			if err != nil {
				t.Fatalf("%q: %v", l.Append(nil), err)
			}
			if once, twice := l.Append(nil), got.Append(nil); !bytes.Equal(once, twice) {
				t.Fatalf("written as %s, and then as %s", once, twice)
			}
		}
	})
}
