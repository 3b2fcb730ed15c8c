package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// checkOwn only checks that the directory exists, because the temporary directory belongs to the user.
func checkOwn(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// A lock is a file that only one process can open, and that is deleted when it is closed.
type lock struct {
	path   *uint16
	handle *syscall.Handle
}

func openLock(dir string) (lock, error) {
	path, err := syscall.UTF16PtrFromString(filepath.Join(dir, "lock"))
	handle := syscall.InvalidHandle
	return lock{path, &handle}, err
}

// Windows defines these as FILE_FLAG_DELETE_ON_CLOSE and ERROR_SHARING_VIOLATION.
const (
	deleteOnClose                  = 0x04000000
	sharingViolation               = syscall.Errno(32)
	accessDenied     syscall.Errno = syscall.ERROR_ACCESS_DENIED // another process is deleting the file
)

// take tries to acquire the lock. The lock is held until Close or the end of the process. take returns false if another
// process holds the lock.
func (l lock) take() (bool, error) {
	h, err := syscall.CreateFile(l.path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL|deleteOnClose, 0)
	if errors.Is(err, sharingViolation) || errors.Is(err, accessDenied) {
		return false, nil
	}
	*l.handle = h
	return err == nil, err
}

// Close releases the lock.
func (l lock) Close() error {
	if *l.handle == syscall.InvalidHandle {
		return nil
	}
	return syscall.CloseHandle(*l.handle)
}
