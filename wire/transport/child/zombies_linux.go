package child

import (
	"bytes"
	"os"
	"strconv"
)

// groupIsDead reports whether all processes that remain in a group have exited and are waiting to be reaped. The system
// counts such processes as alive until their parent reaps them, which the first process in many containers never does.
func groupIsDead(pgid int) bool {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return false
	}
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err == nil && aliveIn(pgid, stat) {
			return false
		}
	}
	return true
}

// aliveIn evaluates /proc/PID/stat: "PID (NAME) STATE PPID PGRP …", where NAME may contain any character. A process
// whose first thread has exited is still alive if it has other threads.
func aliveIn(pgid int, stat []byte) bool {
	const state, group, threads = 0, 2, 17
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) <= threads || string(f[group]) != strconv.Itoa(pgid) {
		return false
	}
	switch f[state][0] {
	case 'Z', 'X':
		return len(f[threads]) > 1 || f[threads][0] > '1'
	}
	return true
}
