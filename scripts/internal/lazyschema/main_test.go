package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The pinned files are those that the change was made for, and it is made once.
func TestPatches(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range patches {
		b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), p.file))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), p.file)
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

// What is left in a folder is taken by go as the library.
func TestModfile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir("../../..")
	if err := modfile(dir); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-modfile", filepath.Join(dir, "go.mod"), "-f", "{{.Dir}}", module).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != filepath.Join(dir, "jsonschema") {
		t.Errorf("the library is taken from %s", got)
	}
	b, err := os.ReadFile(filepath.Join(dir, "jsonschema", patches[0].file))
	if err != nil || !strings.Contains(string(b), patches[0].edits[3].new) {
		t.Errorf("the copy is not changed: %v", err)
	}
}
