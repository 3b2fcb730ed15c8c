package schemes

import "os"

// inherited is not implemented on Windows.
func inherited() []int { return nil }

// exists reports whether a process with that id exists.
func exists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
