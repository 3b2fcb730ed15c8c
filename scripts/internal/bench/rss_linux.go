package main

import (
	"os"
	"syscall"
)

// maxRSS is the peak of a process's resident memory in bytes.
func maxRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) * 1024 // of another width on other machines
	}
	return 0
}
