package schemes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
	"rpcx/wire/transport/child"
)

func wantChild(t *testing.T, err error) (*wire.CloseError, *wire.Child) {
	t.Helper()
	var c *wire.CloseError
	if !errors.As(err, &c) || c.Child == nil {
		t.Fatalf("got %v, want a *wire.CloseError with the child's end", err)
	}
	return c, c.Child
}

func TestExecIsAStreamOfMessages(t *testing.T) {
	c := dialed(t, "exec:cat", transport.Config{})
	for _, msg := range []string{`{"a":1}`, `[1,2]`, `"` + strings.Repeat("x", 1<<20) + `"`} {
		wantEcho(t, c, `[`+msg+`]`)
	}
	returns(t, "Close of a child that ends at the end of its stdin", func() { c.Close() })
	if _, err := c.Recv(); err == nil || err == io.EOF {
		t.Errorf("Recv after Close: %v", err)
	}
}

func TestExecReturnsAllOutputBeforeTheEnd(t *testing.T) {
	var stderr lockedBuffer
	c := helperConn(t, "burst", transport.Config{Stderr: &stderr})
	sendErr := flood(c, 4096) // the child reads nothing; failed writes must not lose its output
	for i := range 1024 {
		if got := testkit.Recv(t, c); !strings.HasPrefix(got, fmt.Sprintf("[%d,", i)) {
			t.Fatalf("message %d is %.20s", i, got)
		}
	}
	_, err := c.Recv()
	end, child := wantChild(t, err)
	if end.Clean || child.Exit != 3 || child.Signal != "" || child.Command != os.Args[0] {
		t.Errorf("Recv failed with %+v, %+v", end, child)
	}
	if n := len(child.Stderr); n != 20 || child.Stderr[n-1] != "the end" || child.Stderr[n-2] != strings.Repeat("y", 500) || child.Stderr[n-3] != "line 29" {
		t.Errorf("the last lines of stderr are %q", child.Stderr)
	}
	if _, child := wantChild(t, <-sendErr); child.Exit != 3 {
		t.Errorf("Send failed with %+v", child)
	}
	if out := stderr.String(); !strings.HasPrefix(out, "line 0\nline 1\n") || !strings.HasSuffix(out, "the end") {
		t.Errorf("the copy of stderr is %.100q", out)
	}
}

func TestExecEnds(t *testing.T) {
	for _, c := range []struct {
		name, command string
		clean         bool
		exit          int
		signal        string
	}{
		{"status 0", "exit 0", true, 0, ""},
		{"status 42", "exit 42", false, 42, ""},
		{"killed by a signal", "kill -KILL $$", false, -1, "SIGKILL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dialed(t, "exec:sh -c "+wire.Quote("echo '[1]'; "+c.command), transport.Config{})
			testkit.Recv(t, conn)
			_, err := conn.Recv()
			end, child := wantChild(t, err)
			if end.Clean != c.clean || child.Exit != c.exit || child.Signal != c.signal {
				t.Errorf("%+v, %+v", end, child)
			}
			if _, child := wantChild(t, conn.Send([]byte("[2]"))); child.Exit != c.exit {
				t.Errorf("Send failed with %+v", child)
			}
		})
	}
}

func TestExecHalfClose(t *testing.T) {
	t.Run("ours", func(t *testing.T) {
		c := dialed(t, "exec:sh -c 'cat >/dev/null; echo [1]'", transport.Config{})
		testkit.OK(t, c.(wire.HalfCloser).CloseSend())
		wantRecv(t, c, "[1]")
		if err := c.Send([]byte("[2]")); err == nil {
			t.Error("Send after CloseSend succeeded")
		}
	})
	t.Run("the child's", func(t *testing.T) {
		c := dialed(t, `exec:sh -c 'exec >&-; read x; test "$x" = "[1]" && exit 7'`, transport.Config{})
		if _, err := c.Recv(); err != io.EOF {
			t.Fatalf("stdout closed: %v, want io.EOF", err)
		}
		mustSend(t, c, "[1]")
		for {
			if err := c.Send([]byte("[2]")); err != nil {
				if _, child := wantChild(t, err); child.Exit != 7 {
					t.Errorf("%+v", child)
				}
				break
			}
		}
	})
}

func TestExecCloseUnblocks(t *testing.T) {
	for name, blocked := range map[string]func(wire.Conn) <-chan error{
		"Recv": recvError,
		"Send": func(c wire.Conn) <-chan error { return flood(c, 1<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			c := helperConn(t, "deaf", transport.Config{CloseTimeout: 100 * time.Millisecond})
			pid := recvPid(t, c)
			failed := blocked(c)
			returns(t, "Close", func() { c.Close(); c.Close() })
			if err := <-failed; err == nil {
				t.Error("it succeeded")
			}
			wantGone(t, pid)
		})
	}
}

func TestExecCloseEndsTheGroup(t *testing.T) {
	for mode, does := range map[string]string{
		"stubborn": "a child that ignores SIGTERM",
		"family":   "a child with a running grandchild",
		"launcher": "a child that has exited before its grandchild",
	} {
		t.Run(does, func(t *testing.T) {
			c := helperConn(t, mode, transport.Config{CloseTimeout: 100 * time.Millisecond})
			pid := recvPid(t, c)
			if mode == "launcher" {
				var err error
				returns(t, "Recv from a child whose grandchild keeps stdout open", func() { _, err = c.Recv() })
				if end, child := wantChild(t, err); !end.Clean || child.Exit != 0 {
					t.Errorf("%+v, %+v", end, child)
				}
			}
			returns(t, "Close", func() { c.Close() })
			wantGone(t, pid)
		})
	}
}

func TestExecCannotStart(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := func(name, text string, mode os.FileMode) {
		testkit.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	file("plain", "echo hi\n", 0o644)
	file("script", "echo hi\n", 0o755)
	file("lost", "#!/no/such/interpreter\n", 0o755)
	file("local", "#!/bin/sh\n", 0o755)
	for _, c := range []struct {
		command    string
		kind       wire.FaultKind
		says, hint string
	}{
		{"no-such-command-here", wire.NotFound, "no-such-command-here: command not found", ""},
		{"./absent", wire.NotFound, "no such file", ""},
		{"./plain/x", wire.NotFound, "no such file", ""},
		{"local", wire.NotFound, "not found", "./local"},
		{"./plain", wire.NotExecutable, "not executable", "chmod +x ./plain"},
		{"./script", wire.NotExecutable, "#!", "sh ./script"},
		{"./lost", wire.NotExecutable, "interpreter", ""},
	} {
		for _, scheme := range []string{"exec:", "ipc:"} {
			_, err := dial(t.Context(), scheme+c.command, transport.Config{})
			f := wire.AsFault(err)
			if f == nil || f.Kind != c.kind || !strings.Contains(f.Message, c.says) || !strings.Contains(f.Hint, c.hint) {
				t.Errorf("%s%s: %+v, want %s with %q and the hint %q", scheme, c.command, f, c.kind, c.says, c.hint)
			}
		}
	}
	elsewhere := mustParse(t, "exec:cat")
	elsewhere.Dir = filepath.Join(dir, "plain")
	_, err := Dial(t.Context(), elsewhere, transport.Config{Framing: framing.Line})
	wantFault(t, err, wire.NotFound, "the working directory does not exist: "+elsewhere.Dir)
	conn := dialed(t, "exec:./local", transport.Config{})
	if _, err := conn.Recv(); err == nil {
		t.Error("Recv returned a message from an empty script")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ctx, "exec:cat", transport.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

func TestExecChildInheritsNoDescriptor(t *testing.T) {
	other := dialed(t, "exec:cat", transport.Config{}) // another child must not inherit the pipes of the first
	c := helperConn(t, "descriptors", transport.Config{})
	want, _ := json.Marshal(given) // the standard ones, and those that the test inherited
	wantRecv(t, c, string(want))
	other.Close()
}

func TestExecManyAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			c, err := dial(t.Context(), "exec:cat", transport.Config{})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			msg := fmt.Appendf(nil, "[%d]", i)
			testkit.Expect(t, "Send", c.Send(msg), nil)
			if got, err := c.Recv(); err != nil || !bytes.Equal(got, msg) {
				t.Errorf("%s was echoed as %s, %v", msg, got, err)
			}
		})
	}
	wg.Wait()
}

func TestExecChildHasItsEnvironment(t *testing.T) {
	t.Setenv("NODE_CHANNEL_FD", "99")
	c := dialed(t, `exec:sh -c 'echo "[\"$RPCX_X$NODE_CHANNEL_FD\"]"'`, transport.Config{Env: []string{"RPCX_X=y"}})
	wantRecv(t, c, `["y"]`)
}

func TestProcessOutlivesTheThreadThatAskedForIt(t *testing.T) {
	// The goroutine that starts a child stays locked to its thread, and the thread ends with it.
	type result struct {
		p   *child.Process
		err error
	}
	started := make(chan result)
	go func() {
		runtime.LockOSThread()
		p, err := child.Start(helperCommand("deaf"))
		started <- result{p, err}
	}()
	r := <-started
	if r.err != nil {
		t.Fatal(r.err)
	}
	select {
	case <-r.p.Done():
		t.Error("the child ended with the thread")
	case <-time.After(200 * time.Millisecond):
	}
	returns(t, "End", func() { r.p.End(patience) })
	if exit, signal := r.p.Status(); exit != -1 || signal != "SIGTERM" {
		t.Errorf("the child ended with status %d, signal %q", exit, signal)
	}
	if err := r.p.Wait(); err == nil {
		t.Error("Wait returned no error")
	}
}
