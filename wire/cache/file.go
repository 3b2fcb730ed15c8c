// Package cache keeps on disk what peers said: answers that allow it, what
// discovery learnt, and what completion offers. Its Read, Write and Update
// serve other files that several processes share as well.
package cache

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"rpcx/wire/xdg"
)

// newPrefix is the beginning of the names of files that are being written.
const newPrefix = ".new-"

// maxFile is the size, in bytes, above which files are not read.
const maxFile = 64 << 20

// dir returns the folder for caches.
func dir() (string, error) {
	d := xdg.Cache()
	if d == "" {
		return "", fmt.Errorf("neither XDG_CACHE_HOME nor HOME names a folder")
	}
	return d, nil
}

// Read returns the content of a file; nil if it cannot be read or is too large.
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

// Write replaces a file atomically: readers see the old content or the new one.
// Only the user can read the file. Missing folders are created. The file's time
// becomes modified, unless that is zero.
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

// Update replaces the content of a file by what change returns for it; nil
// removes the file. Errors are ignored: a cache that fails is an empty one.
func Update(file string, change func(old []byte) []byte) {
	b := change(Read(file))
	if b == nil {
		_ = os.Remove(file)
		return
	}
	_ = Write(file, b, time.Time{})
}
