//go:build linux

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A process is a process that carries a cell's mark.
type process struct {
	pid  int
	name string
}

// marked returns the processes of a cell.
func marked(id string) []process { return carrying("FAULTS_CELL=" + id + "\x00") }

// carrying returns the processes whose environment, with a NUL after each variable, contains text.
func carrying(text string) []process {
	mark := []byte(text)
	entries, _ := os.ReadDir("/proc")
	var some []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !bytes.Contains(append(environ, 0), mark) {
			continue
		}
		words, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		some = append(some, process{pid, strings.TrimSpace(strings.ReplaceAll(string(words), "\x00", " "))})
	}
	return some
}

// peak returns the peak memory of a process in KiB.
func (p process) peak() int64 {
	status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "status"))
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

// descriptors returns the open file descriptors of a process.
func (p process) descriptors() []string {
	dir := filepath.Join("/proc", strconv.Itoa(p.pid), "fd")
	entries, _ := os.ReadDir(dir)
	var open []string
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err == nil {
			open = append(open, to)
		}
	}
	return open
}

// leftovers reports what remains after the last command of a cell.
func (v *verdict) leftovers(b *bench, r room) {
	var left []process
	for deadline := time.Now().Add(b.slack); ; time.Sleep(20 * time.Millisecond) {
		if left = marked(r.id); len(left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	for _, p := range left {
		v.wrong("left behind: process %d, %s", p.pid, p.name)
		v.slow = true
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
	for _, sub := range []string{"run", "tmp", "home", "work"} {
		top := filepath.Join(r.dir, sub)
		filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && path != top && !v.allowed(strings.TrimPrefix(path, r.dir+"/"), d) {
				v.wrong("left behind: %s (%v)", strings.TrimPrefix(path, r.dir+"/"), d.Type())
			}
			return nil
		})
	}
}

// allowed reports whether a file can outlive its command: a given or written file, the directory for sockets, or stored state.
func (v *verdict) allowed(path string, d fs.DirEntry) bool {
	switch {
	case path == "run/rpcx":
		return d.IsDir()
	case path == "work/"+tapeFile:
		return v.cell.run.tapes
	case strings.HasPrefix(path, "work/"):
		_, given := v.cell.run.files[strings.TrimPrefix(path, "work/")]
		return given
	}
	for _, kept := range []string{"home/.cache", "home/.local"} {
		if path == kept || strings.HasPrefix(path, kept+"/") {
			return true
		}
	}
	return false
}

// settled returns the number of a process's file descriptors as soon as it is want or no longer changes.
func (p process) settled(want int, limit time.Duration) int {
	deadline := time.Now().Add(limit)
	n := len(p.descriptors())
	for time.Now().Before(deadline) && n > want {
		time.Sleep(limit / 50)
		n = len(p.descriptors())
	}
	return n
}
