package daemon

import (
	"os"
	"os/exec"
	"syscall"
)

// createNoWindow is the system's CREATE_NO_WINDOW: the process and the session's children share an invisible console.
const createNoWindow = 0x08000000

// handOver passes two pipes to a session process as stdin and stdout, because Windows has no other numbered
// descriptors. Ctrl-C on the console does not reach the process.
func handOver(cmd *exec.Cmd, requests, events *os.File) {
	cmd.Stdin, cmd.Stdout = requests, events
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: createNoWindow | syscall.CREATE_NEW_PROCESS_GROUP}
}

// inherited returns the pipes of handOver, or nil for other files. After that, stdin and stdout are the null device.
func inherited() (requests, events *os.File) {
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		if kind, err := syscall.GetFileType(syscall.Handle(f.Fd())); err != nil || kind != syscall.FILE_TYPE_PIPE {
			return nil, nil
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil
	}
	requests, events = os.Stdin, os.Stdout
	os.Stdin, os.Stdout = null, null
	return requests, events
}
