package keyboard

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"rpcx/wire/testkit"
)

// editorGets returns the line editor's input, and how often Ctrl-C and Ctrl-Z were pressed.
func editorGets(t *testing.T, in io.Reader) (got string, interrupted, suspended int) {
	t.Helper()
	k := &Keys{
		in:        in,
		interrupt: func() bool { interrupted++; return interrupted > 1 },
		suspend:   func() { suspended++ },
	}
	b, err := io.ReadAll(k)
	testkit.OK(t, err)
	return string(b), interrupted, suspended
}

func TestKeys(t *testing.T) {
	for typed, want := range map[string]string{
		"getOrder é 漢\r":                              "getOrder é 漢" + string(pad) + "\r",
		"a\x03b\x03c":                                 "a" + keyEraseAll + "bc",
		"\x1a":                                        "",
		"\x1b[1~\x1bOH\x1b[H":                         "\x01\x01\x01",
		"\x1b[4~\x1bOF\x1b[F":                         "\x05\x05\x05",
		"\x1bOA\x1b[A\x1b[3~":                         "\x1b[A\x1b[A" + string(cellErase),
		"\x1bb\x1b[1;5C\x1b\x7f":                      keyWordLeft + keyWordNext + "\x17",
		"a\x1b[15~b\x1b[24;2~c\x1bxd":                 "abcd", // unknown keys
		"\x1b[" + strings.Repeat("1", 40) + "x":       strings.Repeat("1", 40-longestSequence+2) + "x",
		pasteBegins + "a\tb\x1b[31m\a\x00c" + "\x7fd": pasteBegins + "a bcd",
		pasteBegins + "a\r\nb\nc\rd" + pasteEnds:      pasteBegins + "a\rb\rc\rd" + pasteEnds,
		pasteBegins + "\u009b31mé\u00a9" + pasteEnds:  pasteBegins + "31mé\u00a9" + pasteEnds,
		pasteBegins + "a\u0080b\u009fc\u00a0d\x1fe f": pasteBegins + "abc\u00a0de f",
		pasteBegins + "\x1b[A" + pasteBegins + "x":    pasteBegins + "x",
		pasteBegins + "x\x03y\t":                      pasteBegins + "x" + pasteEnds + keyEraseAll + "y\t",
	} {
		got, _, _ := editorGets(t, strings.NewReader(typed))
		if got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
		if slowly, _, _ := editorGets(t, iotest.OneByteReader(strings.NewReader(typed))); slowly != got {
			t.Errorf("%q: %q byte by byte, %q at once", typed, slowly, got)
		}
	}
	const wide, mark = "漢", "\u0301" // the mark replaces the pad, which the editor may have read already
	if got, _, _ := editorGets(t, strings.NewReader(wide+mark)); got != wide+mark {
		t.Errorf("at once: %q", got)
	}
	if got, _, _ := editorGets(t, iotest.OneByteReader(strings.NewReader(wide+mark))); got != wide+string(pad)+"\x7f"+mark {
		t.Errorf("byte by byte: %q", got)
	}
	if _, interrupted, suspended := editorGets(t, strings.NewReader("\x03\x1a\x03")); interrupted != 2 || suspended != 1 {
		t.Error(interrupted, suspended)
	}
}

// FuzzKeys checks that pasted text reaches the editor without control characters.
func FuzzKeys(f *testing.F) {
	f.Add("a\x1b[31m\u009b\r\n\x7f\x00")
	f.Add("\x1b\x1b[201\x1b[20")
	f.Fuzz(func(t *testing.T, pasted string) {
		if strings.Contains(pasted, pasteEnds) || strings.Contains(pasted, "\x03") || !utf8.ValidString(pasted) {
			return
		}
		got, _, _ := editorGets(t, strings.NewReader(pasteBegins+pasted))
		shown := strings.ReplaceAll(strings.TrimPrefix(got, pasteBegins), "\r", "")
		for _, r := range shown {
			if r < 0x20 || 0x7f <= r && r <= 0x9f {
				t.Fatalf("%q: %q", pasted, got)
			}
		}
	})
}
