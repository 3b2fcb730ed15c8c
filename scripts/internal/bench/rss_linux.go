package main

import (
	"os"
	"syscall"
)

// maxRSS is the peak of a process's resident memory in bytes.
func maxRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss * 1024
	}
	return 0
}
