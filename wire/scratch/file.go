package scratch

import (
	"errors"
	"os"
)

// A File is a temporary file without a name, which always disappears with the process. On systems where open files need
// a name, it is removed when closed.
type File struct{ *os.File }

// NewFile creates a File in the system's directory for temporary files.
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
