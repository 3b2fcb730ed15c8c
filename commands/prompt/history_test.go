package prompt

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// all returns the lines that the Up key shows, one per press.
func (h *history) all() (lines []string) {
	for i := range h.Len() {
		lines = append(lines, h.At(i))
	}
	return lines
}

func TestHistory(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	file := filepath.Join(state, "rpcx", "history")
	h := openHistory()
	for _, line := range []string{
		"a", "a", "", " hidden", "login password=x", `{"method":"m","params":{"token":"abc"}}`, "m -H 'unclosed",
		"token=5 is=a method", strings.Repeat("long", 2000), "b",
	} {
		h.keep(line)
	}
	if got := h.all(); !slices.Equal(got[len(got)-2:], []string{"login password=x", "a"}) || got[0] != "b" || slices.Contains(got, " hidden") {
		t.Errorf("%.50q", got)
	}
	if got := openHistory().all(); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("in the file: %q", got)
	}
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	h := openHistory()
	for i := range 2*historyLines + 10 {
		h.keep(fmt.Sprint("line ", i))
	}
	h.keep("escape \x1b[31m")
	if h.Len() != historyLines {
		t.Error(h.Len(), "lines are remembered")
	}
	h = openHistory()
	if h.Len() != historyLines-1 || h.At(0) != fmt.Sprint("line ", 2*historyLines+9) {
		t.Error(h.Len(), h.At(0))
	}
	b, _ := os.ReadFile(h.file)
	if n := strings.Count(string(b), "\n"); n != historyLines-1 {
		t.Error(n, "lines are in the file")
	}
	if names, _ := os.ReadDir(filepath.Dir(h.file)); len(names) != 1 {
		t.Error(names)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	h = openHistory()
	h.keep("kept here alone")
	if h.Len() != 1 {
		t.Error(h.Len())
	}
}
