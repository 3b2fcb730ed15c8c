package child

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rpcx/wire/testkit"
)

// This process inherits orphans and does not reap them before the test ends, like the first process of many containers.
func TestEndDoesNotWaitForEndedProcesses(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

	r, w, err := os.Pipe()
	testkit.OK(t, err)
	defer r.Close()
	cmd := exec.Command("sh", "-c", `sleep 600 & sleep 600 & echo started; exec sleep 600`)
	cmd.Stdout = w
	p, err := Start(cmd)
	w.Close()
	testkit.OK(t, err)
	r.Read(make([]byte, 1))
	defer func() {
		for {
			if pid, err := unix.Wait4(-p.Pid(), nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
				return
			}
		}
	}()
	began := time.Now()
	p.End(time.Minute)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("End of a group with only zombies took %v", took)
	}
	if !p.group.lives() {
		t.Error("another process has reaped the zombies, so the test is void")
	}
}

func TestAliveIn(t *testing.T) {
	line := func(name, state, group, threads string) []byte {
		return []byte("12 (" + name + ") " + state + " 1 " + group + " 7 0 -1 4228364 100 0 0 0 0 0 0 0 20 0 " + threads + " 0 100 0 0\n")
	}
	for _, c := range []struct {
		what string
		stat []byte
		want bool
	}{
		{"asleep", line("sleep", "S", "7", "1"), true},
		{"in another group", line("sleep", "S", "8", "1"), false},
		{"dead", line("sleep", "Z", "7", "1"), false},
		{"dead, with a name that looks alive", line("a) S 1 7 (b", "Z", "7", "1"), false},
		{"alive, with a name that looks dead", line("a) Z 1 8", "S", "7", "1"), true},
		{"first thread dead", line("java", "Z", "7", "12"), true},
		{"cut off", []byte("12 (sleep"), false},
		{"empty", nil, false},
	} {
		testkit.Expect(t, c.what, aliveIn(7, c.stat), c.want)
	}
}
