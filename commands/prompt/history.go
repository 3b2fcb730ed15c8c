package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire/cache"
	"rpcx/wire/xdg"
)

// A history contains the lines from the prompt, and stores them in a file that only the user can read. It does not
// store lines that may contain a secret, and ignores lines that begin with a blank.
type history struct {
	file string // the file, or ""

	mu    sync.Mutex
	lines []string // oldest first
}

const (
	historyLines = 1000
	historyBytes = 4096 // bounds a stored line
)

// openHistory reads the file. It ignores errors, because a prompt needs no file.
func openHistory() *history {
	h := &history{file: xdg.StateFile("history")}
	b, err := os.ReadFile(h.file)
	if err != nil {
		return h
	}
	all := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for _, line := range all[max(0, len(all)-historyLines):] {
		if line != "" && format.CleanLine(line) == line {
			h.lines = append(h.lines, line)
		}
	}
	if len(all) > 2*historyLines {
		_ = cache.Write(h.file, []byte(strings.Join(h.lines, "\n")+"\n"), time.Time{})
	}
	return h
}

// Len returns the number of lines.
func (h *history) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.lines)
}

// At returns a line, counted from the latest.
func (h *history) At(i int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lines[len(h.lines)-1-i]
}

func (h *history) keep(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.lines)
	if line == "" || line[0] == ' ' || n > 0 && h.lines[n-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.lines = h.lines[max(0, len(h.lines)-historyLines):]
	if h.file == "" || len(line) > historyBytes || holdsSecret(line) || os.MkdirAll(filepath.Dir(h.file), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_ = f.Chmod(0o600)
	_, _ = f.WriteString(line + "\n")
	_ = f.Close()
}

// holdsSecret reports whether a line contains a word that may be a secret.
func holdsSecret(line string) bool {
	words, _, err := params.Split(line)
	return err != nil || slices.ContainsFunc(words, func(w string) bool { return params.Shown(w) != w })
}
