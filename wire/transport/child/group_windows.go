package child

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// processGroup prevents Ctrl-C from reaching the child, because rpcx forwards it, and makes it possible to end the
// child with Ctrl-Break.
func processGroup(attr *syscall.SysProcAttr) {
	attr.CreationFlags |= windows.CREATE_NEW_PROCESS_GROUP
}

// A group is a child and its descendants: a job, which Windows ends together with this process. Processes that the
// child starts before it is in the job are not part of it.
type group struct {
	child *os.Process
	job   *job // nil if Windows did not create a job; then only the child itself is ended
}

type job struct{ handle windows.Handle }

// groupOf puts the child into a new job.
func groupOf(child *os.Process) group {
	g := group{child: child}
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		if herr := child.WithHandle(func(process uintptr) { err = windows.AssignProcessToJobObject(handle, windows.Handle(process)) }); herr != nil {
			err = herr // the child has already exited
		}
	}
	if err != nil {
		_ = windows.CloseHandle(handle)
		return g
	}
	g.job = &job{handle}
	runtime.AddCleanup(g.job, func(h windows.Handle) { _ = windows.CloseHandle(h) }, handle)
	return g
}

// ask sends Ctrl-Break to all processes of the group on their console. If there is no console, it kills them.
func (g group) ask() {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.child.Pid)) != nil {
		g.force()
	}
}

// force kills all processes of the group.
func (g group) force() {
	if g.job == nil || windows.TerminateJobObject(g.job.handle, 1) != nil {
		_ = g.child.Kill()
	}
}

// Windows defines jobAccounting as JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type jobAccounting struct {
	_, _, _, _      int64
	_, _, active, _ uint32
}

// Windows defines basicAccounting as JobObjectBasicAccountingInformation.
const basicAccounting = 1

// lives reports whether the group contains a process.
func (g group) lives() bool {
	if g.job == nil {
		return false
	}
	var a jobAccounting
	err := windows.QueryInformationJobObject(g.job.handle, basicAccounting, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	runtime.KeepAlive(g.job)
	return err == nil && a.active > 0
}

// signalName returns the text for a signal. It is never needed, because signals do not end processes on Windows.
func signalName(s syscall.Signal) string { return s.String() }
