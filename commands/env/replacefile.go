package env

import (
	"errors"
	"os"
	"path/filepath"
)

// ReplaceFile gives file the content that write writes. A regular file is replaced after success
// and in one step, so that no reader sees a part of it, and keeps its mode; a new one gets 0600.
// Of a symbolic link the target is replaced. A device, a FIFO and the like is written to.
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
