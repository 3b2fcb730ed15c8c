package commands

import (
	"bufio"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"rpcx/wire/testkit"
)

// The parent process sees the signal that ended rpcx, so that a shell's loop ends, too. If rpcx was started with the signal
// ignored, the parent sees an exit status.
func TestTheSignalEndsRpcx(t *testing.T) {
	caught := make(chan os.Signal, 1) // otherwise, rpcx would ignore the signals that the test process ignores
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, c := range []struct {
		signal  syscall.Signal
		ignored bool
	}{{syscall.SIGINT, false}, {syscall.SIGTERM, false}, {syscall.SIGHUP, false}, {syscall.SIGINT, true}} {
		words := []string{"rpcx", "subscribe", "demo:orders", "watchOrders", "interval:=60"}
		if c.ignored {
			words = append([]string{"sh", "-c", `trap "" INT; exec "$@"`, "sh"}, words...)
		}
		cmd := exec.Command(words[0], words[1:]...)
		out, err := cmd.StdoutPipe()
		testkit.OK(t, err)
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		testkit.OK(t, cmd.Start())
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Signal(c.signal)
		_ = cmd.Wait()
		ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if ws.Signaled() == c.ignored || shellStatus(cmd.ProcessState) != 128+int(c.signal) {
			t.Errorf("%v, ignored %t: ended with %v", c.signal, c.ignored, cmd.ProcessState)
		}
	}
}

// A closed pipe on stdout ends rpcx with SIGPIPE, as it ends other programs.
func TestAClosedPipeEndsRpcx(t *testing.T) {
	r, w, err := os.Pipe()
	testkit.OK(t, err)
	r.Close()
	cmd := exec.Command("rpcx", "call", "demo:orders", "getOrder", "id=o_001")
	cmd.Stdout = w
	_ = cmd.Run()
	w.Close()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGPIPE {
		t.Errorf("ended with %v", cmd.ProcessState)
	}
}
