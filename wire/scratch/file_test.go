package scratch

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// A Log that is longer than its memory holds what was added, wherever that is.
func TestLog(t *testing.T) {
	var l Log
	text := func(i int) string { return strings.Repeat(fmt.Sprint(i, " "), i%50) }
	for i := range 20_000 {
		if n := l.Add([]byte(text(i))); n != i {
			t.Fatalf("%d is number %d", i, n)
		}
	}
	l.Add(bytes.Repeat([]byte("x"), 1<<20))
	for _, i := range []int{0, 1, 49, 50, 9_999, 19_999} {
		if got := string(l.Get(i)); got != text(i) {
			t.Errorf("%d: %q", i, got)
		}
	}
	if l.Len() != 20_001 || len(l.Get(20_000)) != 1<<20 || l.Err() != nil || l.file == nil {
		t.Errorf("%d, %v", l.Len(), l.Err())
	}
	if err := l.Close(); err != nil || l.Len() != 0 {
		t.Error(err, l.Len())
	}
}

// The file has no name while it is used, and a short Log has no file.
func TestLogHasNoName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open keeps its name")
	}
	t.Setenv("TMPDIR", t.TempDir())
	var l Log
	if l.Add([]byte("x")); l.file != nil {
		t.Error("a short list has a file")
	}
	l.Add(make([]byte, 1<<20))
	if left, err := os.ReadDir(os.TempDir()); len(left) > 0 || err != nil || l.file == nil {
		t.Errorf("%v, %v", left, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Where no file can be made there is an error, and no panic.
func TestLogNowhere(t *testing.T) {
	t.Setenv("TMPDIR", "/none")
	t.Setenv("TMP", `N:\none`)
	var l Log
	l.Add(make([]byte, 1<<20))
	if l.Err() == nil || len(l.Get(0)) != 1<<20 {
		t.Error(l.Err())
	}
}
