//go:build unix

package scratch

import (
	"os"
	"path/filepath"
	"testing"
)

// write creates a file and its directory.
func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestDir(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	at := func(parts ...string) string { return filepath.Join(append([]string{temp}, parts...)...) }
	write(t, at("rpcx-plugin-1", ownerFile)) // its process has ended
	write(t, at("rpcx-plugin-1", "7", "state"))
	write(t, at("rpcx-plugin-2", "work"))     // not created by rpcx
	write(t, at("other", ownerFile))          // not named like rpcx's directories
	write(t, at("rpcx-plugin-3", ownerFile))  // other users have access
	write(t, at("elsewhere", "x", ownerFile)) // behind a link
	if err := os.Chmod(at("rpcx-plugin-3"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("elsewhere", "x"), at("rpcx-plugin-4")); err != nil {
		t.Fatal(err)
	}

	first, second := &Dir{Kind: "plugin"}, &Dir{Kind: "artifacts"}
	if err := first.Remove(); err != nil || !exists(at("rpcx-plugin-1")) {
		t.Errorf("before the first use: %v", err)
	}
	for _, d := range []*Dir{first, second, first} {
		if path, err := d.Path(); err != nil || path != d.path {
			t.Fatal(path, err)
		}
	}
	if exists(at("rpcx-plugin-1")) {
		t.Error("the directory of an ended process was not removed")
	}
	for _, path := range []string{
		at("rpcx-plugin-2", "work"), at("other", ownerFile), at("rpcx-plugin-3", ownerFile),
		at("elsewhere", "x", ownerFile), at("rpcx-plugin-4"), first.path, second.path,
	} {
		if !exists(path) {
			t.Errorf("%s was removed", path)
		}
	}
	info, err := os.Stat(first.path)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	write(t, filepath.Join(first.path, "1", "state"))
	if err := first.Remove(); err != nil || exists(first.path) || !exists(second.path) {
		t.Errorf("removed: %v", err)
	}
	if err := second.Remove(); err != nil {
		t.Error(err)
	}
}

// A new directory contains only the file of its owner. After the owner's lock is released, another process removes the directory.
func TestOwner(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	d := &Dir{Kind: "plugin"}
	path, err := d.Path()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) != 1 || entries[0].Name() != ownerFile {
		t.Errorf("in a new folder: %v, %v", entries, err)
	}
	_ = d.owner.Close() // as when the process ends
	sweep(temp)
	if exists(path) {
		t.Error("the directory of an ended process was not removed")
	}
}
