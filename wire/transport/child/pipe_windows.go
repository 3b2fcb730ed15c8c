package child

import (
	"crypto/rand"
	"os"

	"golang.org/x/sys/windows"
)

// PipeTo returns a pipe to a child. The local end supports deadlines.
func PipeTo() (theirs, ours *os.File, err error) {
	ours, theirs, err = pipe(windows.PIPE_ACCESS_OUTBOUND, windows.GENERIC_READ)
	return theirs, ours, err
}

// PipeFrom returns a pipe from a child. The local end supports deadlines.
func PipeFrom() (ours, theirs *os.File, err error) {
	return pipe(windows.PIPE_ACCESS_INBOUND, windows.GENERIC_WRITE)
}

// pipeSize is the capacity of a pipe in bytes, the same as on other systems.
const pipeSize = 64 << 10

// pipe creates a pipe with a name that other processes cannot guess. Deadlines require overlapped mode, which the
// child's end must not have; only the ends of a named pipe can differ in this.
func pipe(ours, theirs uint32) (our, their *os.File, err error) {
	name := `\\.\pipe\rpcx-` + rand.Text()
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, nil, err
	}
	const first = windows.FILE_FLAG_FIRST_PIPE_INSTANCE | windows.FILE_FLAG_OVERLAPPED
	const bytes = windows.PIPE_TYPE_BYTE | windows.PIPE_READMODE_BYTE | windows.PIPE_REJECT_REMOTE_CLIENTS
	h, err := windows.CreateNamedPipe(path, ours|first, bytes, 1, pipeSize, pipeSize, 0, nil)
	if err != nil {
		return nil, nil, os.NewSyscallError("CreateNamedPipe", err)
	}
	far, err := windows.CreateFile(path, theirs, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		_ = windows.CloseHandle(h)
		return nil, nil, os.NewSyscallError("CreateFile", err)
	}
	return os.NewFile(uintptr(h), name), os.NewFile(uintptr(far), name), nil
}
