// Package cache keeps on disk what peers said: answers that allow it, and what
// discovery found. It also writes other files of the program that several
// processes share.
package cache

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"rpcx/wire/profile"
)

// newPrefix begins the names of files that are being written.
const newPrefix = ".new-"

// maxFile is the greatest file that is read.
const maxFile = 64 << 20

// dir returns the folder for caches: in $XDG_CACHE_HOME, else where the system
// has its caches.
func dir() (string, error) {
	usual := []string{".cache"}
	if runtime.GOOS == "darwin" {
		usual = []string{"Library", "Caches"}
	}
	d := profile.XDG("XDG_CACHE_HOME", usual...)
	if d == "" {
		return "", fmt.Errorf("neither XDG_CACHE_HOME nor HOME names a folder")
	}
	return d, nil
}

// Read returns what is in a file; nil where it cannot be read or is too big.
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

// Write replaces a file as a whole, so that whoever reads it at that time reads
// the old one or the new one. Nobody else can read it; its folder is made where
// it is missing. The file's time becomes modified, unless that is zero.
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

// Update replaces what is in a file by what change makes of it; nil removes the
// file. What cannot be kept is not: a cache that fails is an empty one.
func Update(file string, change func(old []byte) []byte) {
	b := change(Read(file))
	if b == nil {
		_ = os.Remove(file)
		return
	}
	_ = Write(file, b, time.Time{})
}
