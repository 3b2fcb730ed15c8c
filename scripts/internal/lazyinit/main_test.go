package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The patches fit the pinned files, and refuse files that were patched before.
func TestPatches(t *testing.T) {
	for _, l := range libraries {
		dir, err := l.dir()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range l.patches {
			b, err := os.ReadFile(filepath.Join(dir, p.file))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "file.go")
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := p.change(file); err != nil {
				t.Fatal(err)
			}
			b, _ = os.ReadFile(file)
			for _, e := range p.edits {
				if !strings.Contains(string(b), e.new) {
					t.Errorf("%s is not changed: %q", p.file, e.new)
				}
			}
			if err := p.change(file); err == nil || !strings.Contains(err.Error(), "look at it again") {
				t.Errorf("%s, which is another file now, is patched: %v", p.file, err)
			}
		}
	}
}

// With the generated module file, go uses the patched copies of the libraries.
func TestModfile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir("../../..")
	if err := modfile(dir); err != nil {
		t.Fatal(err)
	}
	for _, l := range libraries {
		out, err := exec.Command("go", "list", "-modfile", filepath.Join(dir, "go.mod"), "-f", "{{.Dir}}", "-m", l.module).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := strings.TrimSpace(string(out)); got != filepath.Join(dir, l.name) {
			t.Errorf("%s is used from %s", l.module, got)
		}
		p := l.patches[0]
		b, err := os.ReadFile(filepath.Join(dir, l.name, p.file))
		if err != nil || !strings.Contains(string(b), p.edits[0].new) {
			t.Errorf("the copy of %s is not changed: %v", l.module, err)
		}
	}
}
