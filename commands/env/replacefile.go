package env

import (
	"errors"
	"os"
	"path/filepath"
)

// ReplaceFile replaces the content of file with the output of write. It replaces a regular file atomically after write
// has succeeded: readers see either the old or the new content. The file keeps its mode; a new file has mode 0600. If
// file is a symbolic link, ReplaceFile replaces its target. It writes directly to a device or FIFO.
func ReplaceFile(file string, write func(f *os.File) error) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	there, err := os.Stat(file)
	if err == nil && !there.Mode().IsRegular() {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".rpcx-*")
	if err != nil {
		return err
	}
	err = write(f)
	if there != nil {
		err = errors.Join(err, f.Chmod(there.Mode().Perm()))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
