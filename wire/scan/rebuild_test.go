package scan

import (
	"errors"
	"strings"
	"testing"
)

// pointers appends val to b, with each scalar replaced by its pointer.
func pointers(b, val []byte, at string) ([]byte, error) {
	switch Type(val) {
	case 'o', 'a':
		return Rebuild(b, val, 10, func(b []byte, i int, key, part []byte) ([]byte, error) {
			return pointers(b, part, Descend(at, i, key))
		})
	case 'f':
		return nil, errors.New("no " + at)
	}
	return AppendQuoted(b, at), nil
}

func TestRebuild(t *testing.T) {
	for val, want := range map[string]string{
		`{}`:                        `{}`,
		`[ ]`:                       `[]`,
		`[1, 2]`:                    `["/0","/1"]`,
		`{"a": [{"b":1}, 2],"c":3}`: `{"a":[{"b":"/a/0/b"},"/a/1"],"c":"/c"}`,
		`{"":1,"a/b~c":2}`:          `{"":"/","a/b~c":"/a~1b~0c"}`,
		`{"\u00e9":1,"\"":2}`:       `{"\u00e9":"/é","\"":"/\""}`,
	} {
		if got, err := pointers(nil, []byte(val), ""); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", val, got, err, want)
		}
	}
	if got, err := pointers(nil, []byte(`[1,`), ""); err == nil || got != nil {
		t.Errorf("invalid JSON becomes %s", got)
	}
	if _, err := pointers(nil, []byte(`[1,{"x":false},2]`), ""); err == nil || !strings.Contains(err.Error(), "/1/x") {
		t.Errorf("the error: %v", err)
	}
}

// RFC 6901, section 4: ~1 is decoded before ~0.
func TestPointerTokens(t *testing.T) {
	for name, token := range map[string]string{"": "", "a": "a", "a/b": "a~1b", "m~n": "m~0n", "~1": "~01", "/~": "~1~0"} {
		if got := Escape(name); got != token {
			t.Errorf("Escape(%q) = %q, want %q", name, got, token)
		}
		if got := Unescape(token); got != name {
			t.Errorf("Unescape(%q) = %q, want %q", token, got, name)
		}
	}
}
