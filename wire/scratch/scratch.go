// Package scratch makes folders that are no use when their process has ended, and
// removes those whose process was killed before it could.
package scratch

import (
	"os"
	"path/filepath"
	"strings"
)

const (
	prefix = "rpcx-"
	// ownerFile is in each folder, locked for as long as its process lives.
	ownerFile = ".owner"
)

// A Dir is a folder of this process.
type Dir struct {
	Path  string
	owner *os.File // nil: the folder's file system has no locks
}

// Make makes a folder in the temporary one, which others cannot enter and whose
// name begins with "rpcx-" and kind. Folders of processes that were killed go.
func Make(kind string) (*Dir, error) {
	sweep(os.TempDir())
	path, err := os.MkdirTemp("", prefix+kind+"-")
	if err != nil {
		return nil, err
	}
	return &Dir{Path: path, owner: claim(path)}, nil
}

// Remove removes the folder and all that is in it.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.Path)
	if d.owner != nil {
		_ = d.owner.Close()
	}
	return err
}

// claim puts the owner's file into a folder. It is locked before it gets its name,
// so that it is never found without its lock.
func claim(path string) *os.File {
	f, err := os.CreateTemp(path, ownerFile)
	if err != nil {
		return nil
	}
	if lock(f) && os.Rename(f.Name(), filepath.Join(path, ownerFile)) == nil {
		return f
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return nil
}

// sweep removes from a folder the folders of ours whose processes are gone.
func sweep(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		if path := filepath.Join(parent, e.Name()); strings.HasPrefix(e.Name(), prefix) && ours(path) {
			removeLeft(path)
		}
	}
}

// removeLeft removes a folder that has an owner's file which nobody holds.
func removeLeft(path string) {
	f, err := os.Open(filepath.Join(path, ownerFile))
	if err != nil {
		return
	}
	defer f.Close()
	if lock(f) {
		_ = os.RemoveAll(path)
	}
}
