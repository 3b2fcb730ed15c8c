package main

import (
	"os"
	"syscall"
)

// maxRSS returns the peak resident memory of a process in bytes.
func maxRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) * 1024 // the type differs on other platforms
	}
	return 0
}
