package child

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// processGroup keeps Ctrl-C from a child, because rpcx forwards it, and allows ending the child with Ctrl-Break.
func processGroup(attr *syscall.SysProcAttr) {
	attr.CreationFlags |= windows.CREATE_NEW_PROCESS_GROUP
}

// A group is a child and its descendants: a job, which the system ends with this process. Processes that the child
// starts before it is in the job do not belong to the job.
type group struct {
	child *os.Process
	job   *job // nil if the system refused a job; then only the child is ended
}

type job struct{ handle windows.Handle }

// groupOf puts a child into a job.
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
			err = herr // the child has exited already
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

// ask asks the whole group to exit, with Ctrl-Break on its console. It returns false without a console.
func (g group) ask() bool {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.child.Pid)) == nil
}

// force kills all processes of the group.
func (g group) force() {
	if g.job == nil || windows.TerminateJobObject(g.job.handle, 1) != nil {
		_ = g.child.Kill()
	}
}

// jobAccounting is the system's JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type jobAccounting struct {
	_, _, _, _      int64
	_, _, active, _ uint32
}

// basicAccounting is the system's JobObjectBasicAccountingInformation.
const basicAccounting = 1

// lives reports whether the group has a process.
func (g group) lives() bool {
	if g.job == nil {
		return false
	}
	var a jobAccounting
	err := windows.QueryInformationJobObject(g.job.handle, basicAccounting, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	runtime.KeepAlive(g.job)
	return err == nil && a.active > 0
}

// signalName returns "", because signals do not end processes on this system.
func signalName(s syscall.Signal) string { return s.String() }
