// Package cache keeps data from peers on disk: cacheable answers, discovered catalogs, and words for completion. Read, Write
// and Update also serve other files that several processes share.
package cache

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"rpcx/wire/xdg"
)

// newPrefix begins the names of files that are still being written.
const newPrefix = ".new-"

// maxFile is the size in bytes above which files are not read.
const maxFile = 64 << 20

// dir returns the directory for caches.
func dir() (string, error) {
	d := xdg.Cache()
	if d == "" {
		return "", fmt.Errorf("neither XDG_CACHE_HOME nor HOME names a directory")
	}
	return d, nil
}

// Read returns the content of a file, or nil if it cannot be read or is too large.
func Read(file string) []byte {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil || len(b) > maxFile {
		return nil
	}
	return b
}

// Write replaces a file atomically: readers see the old content or the new one. Only the user can read the file. Write
// creates missing directories, and sets the file's time to modified, unless that is zero.
func Write(file string, b []byte, modified time.Time) error {
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, newPrefix+"*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && !modified.IsZero() {
		err = os.Chtimes(f.Name(), time.Time{}, modified)
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Update replaces a file's content with the result of change; nil removes the file. It ignores errors, because a cache
// that fails counts as empty.
func Update(file string, change func(old []byte) []byte) {
	b := change(Read(file))
	if b == nil {
		_ = os.Remove(file)
		return
	}
	_ = Write(file, b, time.Time{})
}
