package spill

import (
	"errors"
	"os"
)

// A File is a temporary file without a name: it goes with the process, however that ends.
// Where a file that is open cannot be without a name, it goes when it is closed.
type File struct{ *os.File }

// NewFile makes one.
func NewFile() (*File, error) {
	f, err := os.CreateTemp("", "rpcx-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	return &File{f}, nil
}

// Close closes the file, and has it go.
func (f *File) Close() error {
	err := f.File.Close()
	if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		return removed
	}
	return err
}
