package scratch

import (
	"os"
	"runtime"
	"testing"

	"rpcx/wire/testkit"
)

// While a File is open, no directory has a name for it.
func TestFileHasNoName(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.TempDir())
	f, err := NewFile()
	testkit.OK(t, err)
	if left, err := os.ReadDir(os.TempDir()); runtime.GOOS != "windows" && (len(left) > 0 || err != nil) {
		t.Errorf("%v, %v", left, err)
	}
	b := make([]byte, 3)
	_, err = f.WriteString("abc")
	testkit.OK(t, err)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	testkit.OK(t, f.Close())
	if left, err := os.ReadDir(os.TempDir()); len(left) > 0 || err != nil {
		t.Errorf("%v, %v", left, err)
	}
}

// If no file can be created, File returns an error.
func TestFileNowhere(t *testing.T) {
	t.Setenv("TMPDIR", "/none")
	t.Setenv("TMP", `N:\none`)
	if _, err := NewFile(); err == nil {
		t.Error("a file was made")
	}
	if _, err := (&Dir{Kind: "plugin"}).Path(); err == nil {
		t.Error("a directory was made")
	}
}
