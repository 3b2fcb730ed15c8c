package schemes

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// helperMode is an environment variable that makes this test binary act as a child with a given behaviour.
const helperMode = "RPCX_TEST_CHILD"

var helpers = map[string]func(){
	// Prints its process id, and ignores requests to end.
	"stubborn": func() {
		signal.Ignore(syscall.SIGTERM)
		say(map[string]int{"pid": os.Getpid()})
		time.Sleep(time.Hour)
	},
	// Ends at once, and leaves a child that keeps all three descriptors open.
	"launcher": func() {
		cmd := helperCommand("stubborn")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	},
	// Has a child of its own. Both wait for the request to end.
	"family": func() {
		cmd := helperCommand("deaf")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		time.Sleep(time.Hour)
	},
	// Reads nothing.
	"deaf": func() {
		say(map[string]int{"pid": os.Getpid()})
		time.Sleep(time.Hour)
	},
	// Prints 1 MiB on stdout and 30 lines on stderr, and exits without reading.
	"burst": func() {
		for i := range 1024 {
			fmt.Printf("[%d,%q]\n", i, strings.Repeat("x", 1024))
		}
		for i := range 30 {
			fmt.Fprintf(os.Stderr, "line %d\n", i)
		}
		fmt.Fprint(os.Stderr, strings.Repeat("y", 1000)+"\nthe end")
		os.Exit(3)
	},
	// Prints the descriptors that it inherited.
	"descriptors": func() { say(inherited()) },
	// Uses its parent's IPC channel.
	"ipc": func() {
		conn, err := dial(context.Background(), "ipc:", transport.Config{})
		if err != nil {
			panic(err)
		}
		for {
			msg, err := conn.Recv()
			if err != nil {
				os.Exit(0)
			}
			conn.Send(msg)
		}
	},
	// Is a client over its own stdin and stdout: echoes, and exits normally.
	"stdio": func() {
		conn, err := dial(context.Background(), "stdio:", transport.Config{})
		if err != nil {
			panic(err)
		}
		for {
			msg, err := conn.Recv()
			if err != nil {
				fmt.Fprintf(os.Stderr, "recv: %v\n", err)
				break
			}
			if string(msg) == `["close"]` {
				go func() { time.Sleep(50 * time.Millisecond); conn.Close() }()
				continue
			}
			if err := conn.Send(msg); err != nil {
				fmt.Fprintf(os.Stderr, "send: %v\n", err)
				os.Exit(9)
			}
		}
		conn.Close()
		fmt.Println("printed after Close")
	},
}

func say(v any) { json.NewEncoder(os.Stdout).Encode(v) }

// runHelper is called by TestMain. In a helper, it does not return.
func runHelper() {
	if f := helpers[os.Getenv(helperMode)]; f != nil {
		f()
		os.Exit(0)
	}
}

func helperCommand(mode string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv(mode)...)
	return cmd
}

// helperEnv returns the environment for a helper, in which the race detector does not delay the exit by a second.
func helperEnv(mode string) []string {
	return []string{helperMode + "=" + mode, "GORACE=atexit_sleep_ms=0"}
}

// helperConn dials this test binary in a mode.
func helperConn(t *testing.T, mode string, c transport.Config) wire.Conn {
	t.Helper()
	c.Env = append(c.Env, helperEnv(mode)...)
	return dialed(t, "exec:"+wire.Quote(os.Args[0]), c)
}

func dial(ctx context.Context, address string, c transport.Config) (wire.Conn, error) {
	a, err := transport.Parse(address)
	if err != nil {
		return nil, err
	}
	if c.Framing == nil {
		c.Framing = framing.Line
	}
	return Dial(ctx, a, c)
}

// dialed dials, and closes the connection when the test ends.
func dialed(t *testing.T, address string, c transport.Config) wire.Conn {
	t.Helper()
	conn, err := dial(t.Context(), address, c)
	if err != nil {
		t.Fatalf("dial %s: %v", address, err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// listening listens until the test ends.
func listening(t *testing.T, address string, c transport.Config) transport.Listener {
	t.Helper()
	if c.Framing == nil {
		c.Framing = framing.Line
	}
	l, err := Listen(t.Context(), mustParse(t, address), c)
	if err != nil {
		t.Fatalf("listen %s: %v", address, err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// wantRecv receives one message, which must be want.
func wantRecv(t *testing.T, c wire.Conn, want string) {
	t.Helper()
	if got := testkit.Recv(t, c); got != want {
		t.Fatalf("received %.60q of %d bytes, not %.60q of %d bytes", got, len(got), want, len(want))
	}
}

// wantEcho sends a message to a peer that returns it.
func wantEcho(t *testing.T, c wire.Conn, msg string) {
	t.Helper()
	sent := make(chan error, 1)
	go func() { sent <- c.Send([]byte(msg)) }()
	wantRecv(t, c, msg)
	testkit.OK(t, <-sent)
}

func mustSend(t *testing.T, c wire.Conn, msg string) {
	t.Helper()
	if err := c.Send([]byte(msg)); err != nil {
		t.Fatalf("send: %v", err)
	}
}

// recvError returns the error of the next Recv.
func recvError(c wire.Conn) <-chan error {
	failed := make(chan error, 1)
	go func() { _, err := c.Recv(); failed <- err }()
	return failed
}

// flood sends messages of that size until Send fails, and returns its error.
func flood(c wire.Conn, size int) <-chan error {
	failed := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			err = c.Send([]byte(strings.Repeat("1", size)))
		}
		failed <- err
	}()
	return failed
}

// recvPid receives {"pid":N}, and returns N.
func recvPid(t *testing.T, c wire.Conn) int {
	t.Helper()
	var v struct{ Pid int }
	if msg := testkit.Recv(t, c); json.Unmarshal([]byte(msg), &v) != nil || v.Pid == 0 {
		t.Fatalf("%s has no process id", msg)
	}
	return v.Pid
}

// wantGone waits until a process has ended. Zombies count as ended.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if !exists(pid) {
			return
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d still runs", pid)
}

// A lockedBuffer collects the writes of several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// warn implements transport.Config.Warn.
func (b *lockedBuffer) warn(line string) { b.Write([]byte(line + "\n")) }

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
