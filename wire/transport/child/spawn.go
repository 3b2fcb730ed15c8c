package child

import (
	"os/exec"
	"runtime"
	"sync"
)

// The death signal of a child (Linux) comes when the thread that started it
// ends, so all children are started on one thread that lives as long as they
// do: that of a goroutine which runs while there are children, and no longer.
type spawner struct {
	mu    sync.Mutex
	users int
	calls chan func()
}

// spawn is that of this process: threads are the process's, so is their keeper.
var spawn spawner

// start starts cmd on the spawner's thread. Each start that succeeded is
// followed by one release when the child has been waited for.
func (s *spawner) start(cmd *exec.Cmd) error {
	s.mu.Lock()
	if s.users++; s.users == 1 {
		s.calls = make(chan func())
		go serveThread(s.calls)
	}
	calls := s.calls
	s.mu.Unlock()

	done := make(chan error, 1)
	calls <- func() { done <- cmd.Start() }
	err := <-done
	if err != nil {
		s.release()
	}
	return err
}

// release notes that a child is gone; after the last one the goroutine ends.
func (s *spawner) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 {
		close(s.calls)
	}
}

func serveThread(calls <-chan func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread() // no child is left: the thread may serve others, or end
	for f := range calls {
		f()
	}
}
