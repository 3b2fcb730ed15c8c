package testkit

import "os"

// exists reports whether there is a process with the id pid.
func exists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
