// Package scratch creates temporary directories. It also removes the directories that killed processes have left.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	prefix = "rpcx-"
	// ownerFile is a file in each directory, which is locked as long as the process runs.
	ownerFile = ".owner"
)

// A Dir is a temporary directory of this process, which Path creates when it is first needed.
type Dir struct {
	Kind string // the directory's name begins with "rpcx-" and Kind

	mu    sync.Mutex
	path  string   // "" before the first use
	owner *os.File // nil if the file system does not support locks
}

// Path returns the path of the directory. The first call creates the directory, which is private, in the system's
// temporary directory. It also removes the directories that killed processes have left. After Remove, Path still returns
// the path of the removed directory, whose use fails. If Remove found no directory to remove, Path creates one.
func (d *Dir) Path() (path string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.path == "" {
		sweep(os.TempDir())
		if path, err = os.MkdirTemp("", prefix+d.Kind+"-"); err != nil {
			return "", err
		}
		d.path, d.owner = path, claim(path)
	}
	return d.path, nil
}

// Remove removes the directory and its content. It does nothing if the directory was never created.
func (d *Dir) Remove() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.path == "" {
		return nil
	}
	err := os.RemoveAll(d.path)
	if d.owner != nil {
		_ = d.owner.Close()
	}
	return err
}

// claim creates the owner's file in a directory. It locks the file before it renames it, so the file never has its name
// without being locked.
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

// sweep removes the directories of processes that have ended.
func sweep(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		if path := filepath.Join(parent, e.Name()); strings.HasPrefix(e.Name(), prefix) && ours(path) {
			removeLeft(path)
		}
	}
}

// removeLeft removes a directory if its owner's file is not locked.
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

// A File is a temporary file without a name, which disappears with the process. On a system where an open file must
// have a name, it is removed when it is closed.
type File struct{ *os.File }

// NewFile creates a File in the system's temporary directory.
func NewFile() (*File, error) {
	f, err := os.CreateTemp("", "rpcx-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	return &File{f}, nil
}

// Close closes the file, and removes it if it still has a name.
func (f *File) Close() error {
	err := f.File.Close()
	if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		return removed
	}
	return err
}
