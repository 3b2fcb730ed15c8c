// Package scratch makes temporary directories. It also removes the directories of killed processes.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

const (
	prefix = "rpcx-"
	// ownerFile is a file in each directory that is locked while its process lives.
	ownerFile = ".owner"
)

// A Dir is a temporary directory of this process.
type Dir struct {
	Path  string
	owner *os.File // nil if the file system has no locks
}

// Make creates a private directory in the system's temporary directory, with a name that begins with "rpcx-" and kind.
// It removes the directories of killed processes.
func Make(kind string) (*Dir, error) {
	sweep(os.TempDir())
	path, err := os.MkdirTemp("", prefix+kind+"-")
	if err != nil {
		return nil, err
	}
	return &Dir{Path: path, owner: claim(path)}, nil
}

// Remove removes the directory and its content.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.Path)
	if d.owner != nil {
		_ = d.owner.Close()
	}
	return err
}

// claim creates the owner's file in a directory, and locks it before naming it. The file is never visible without its
// lock.
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

// sweep removes the directories of ended processes.
func sweep(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		if path := filepath.Join(parent, e.Name()); strings.HasPrefix(e.Name(), prefix) && ours(path) {
			removeLeft(path)
		}
	}
}

// removeLeft removes a directory whose owner's file is not locked.
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

// A File is a temporary file without a name, which disappears with the process. If a system requires names for open
// files, closing the file removes it.
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

// Close closes the file, which then disappears.
func (f *File) Close() error {
	err := f.File.Close()
	if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		return removed
	}
	return err
}
