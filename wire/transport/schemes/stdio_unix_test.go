//go:build unix

package schemes

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func TestStdioOfAChildOfOurs(t *testing.T) {
	var stderr lockedBuffer
	c := helperConn(t, "stdio", transport.Config{Stderr: &stderr})
	for _, msg := range []string{"[1]", `["` + strings.Repeat("x", 300<<10) + `"]`} {
		wantEcho(t, c, msg)
	}
	mustSend(t, c, `["end"]`)
	testkit.Recv(t, c)
	testkit.OK(t, c.(wire.HalfCloser).CloseSend())
	_, err := c.Recv() // what arrives after Close is discarded
	if end, _ := wantChild(t, err); !end.Clean {
		t.Errorf("%v; stderr %s", end, stderr.String())
	}
	if !strings.Contains(stderr.String(), "recv: EOF") {
		t.Errorf("stderr: %s", stderr.String())
	}
}

// Close does not wait for a pending read from a stdin that stays open.
func TestStdioCloseWakesARead(t *testing.T) {
	for _, kind := range []string{"pipe", "socket"} {
		t.Run(kind, func(t *testing.T) {
			cmd := helperCommand("stdio")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			ours, theirs := rawPair(t, kind)
			cmd.Stdin = theirs
			out, _ := cmd.StdoutPipe()
			testkit.OK(t, cmd.Start())
			theirs.Close()
			ours.WriteString("[1]\n")
			buf := make([]byte, 4)
			if _, err := io.ReadFull(out, buf); err != nil || string(buf) != "[1]\n" {
				t.Fatalf("%q, %v; %s", buf, err, stderr.String())
			}
			ours.WriteString("[\"close\"]\n")
			returns(t, "the end of the child", func() {
				io.Copy(io.Discard, out)
				cmd.Wait()
			})
			if !strings.Contains(stderr.String(), "recv: connection closed") {
				t.Errorf("stderr: %s", stderr.String())
			}
		})
	}
}

// rawPair returns a pipe or a socket pair in blocking mode, as shells create them.
func rawPair(t *testing.T, kind string) (w, r *os.File) {
	t.Helper()
	var fds [2]int
	var err error
	if kind == "pipe" {
		err = syscall.Pipe(fds[:])
	} else {
		fds, err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	}
	testkit.OK(t, err)
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	r, w = os.NewFile(uintptr(fds[0]), "read"), os.NewFile(uintptr(fds[1]), "write")
	t.Cleanup(func() { r.Close(); w.Close() })
	return w, r
}

// useStdio replaces stdin and stdout until the test ends.
func useStdio(t *testing.T, in, out *os.File) {
	wasIn, wasOut := os.Stdin, os.Stdout
	t.Cleanup(func() { os.Stdin, os.Stdout = wasIn, wasOut })
	os.Stdin, os.Stdout = in, out
}

func TestStdioBrokenPipe(t *testing.T) {
	cmd := helperCommand("stdio")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	testkit.OK(t, cmd.Start())
	out.Close()
	io.WriteString(in, "[1]\n")
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 9 || !strings.Contains(stderr.String(), "send: connection lost: write /dev/stdout: broken pipe") {
		t.Errorf("%v; %s", err, stderr.String())
	}
}

func TestStdioListener(t *testing.T) {
	for _, kind := range []string{"pipe", "socket"} {
		t.Run(kind, func(t *testing.T) {
			inW, inR := rawPair(t, kind)
			outW, outR := rawPair(t, kind)
			useStdio(t, inR, outW)
			l := listening(t, "stdio:", transport.Config{})
			testkit.Expect(t, "the endpoint", l.Endpoint(), "")
			c := mustAccept(t, l)
			again := make(chan error, 1)
			go func() { _, err := l.Accept(); again <- err }()

			inW.WriteString("[1]\n")
			wantRecv(t, c, "[1]")
			mustSend(t, c, "[2]")
			buf := make([]byte, 4)
			if _, err := io.ReadFull(outR, buf); err != nil || string(buf) != "[2]\n" {
				t.Fatalf("%q, %v", buf, err)
			}
			for _, fd := range []int{mustNumber(t, inR), mustNumber(t, outW)} {
				if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
					t.Errorf("the descriptor has mode %#x, %v; other processes share it, so it must not change", flags, err)
				}
			}

			recv, send := recvError(c), flood(c, 1<<20)
			for n := range buf { // writing has begun, so the rest will block
				outR.Read(buf[n : n+1])
			}
			returns(t, "Close", func() { c.Close(); c.Close() })
			wantClose(t, <-recv, 0, true)
			wantClose(t, <-send, 0, true)
			if _, err := io.Copy(io.Discard, outR); err != nil {
				t.Errorf("stdout was not closed: %v", err)
			}
			l.Close()
			l.Close()
			if err := <-again; !errors.Is(err, net.ErrClosed) {
				t.Errorf("the second Accept: %v", err)
			}
		})
	}
}

func mustNumber(t *testing.T, f *os.File) int {
	t.Helper()
	raw, err := f.SyscallConn()
	testkit.OK(t, err)
	n := -1
	if err := raw.Control(func(fd uintptr) { n = int(fd) }); err != nil { // f.Fd() would change the mode
		t.Fatal(err)
	}
	return n
}

func TestStdioHalfClose(t *testing.T) {
	inW, inR := rawPair(t, "pipe")
	outW, outR := rawPair(t, "pipe")
	useStdio(t, inR, outW)
	c := dialed(t, "stdio:", transport.Config{})
	go inW.Close()
	if _, err := c.Recv(); err != io.EOF {
		t.Fatalf("stdin ended: %v", err)
	}
	go c.Send([]byte("[1]"))
	buf := make([]byte, 4)
	if _, err := io.ReadFull(outR, buf); err != nil {
		t.Fatal(err)
	}
	testkit.OK(t, c.(wire.HalfCloser).CloseSend())
	if n, err := outR.Read(buf); err != io.EOF {
		t.Fatalf("after CloseSend: %d, %v", n, err)
	}
	wantClose(t, c.Send([]byte("[2]")), 0, true)
}

func TestStdioListenerClosedBeforeAccept(t *testing.T) {
	inW, inR := rawPair(t, "pipe")
	outW, outR := rawPair(t, "pipe")
	useStdio(t, inR, outW)
	l := listening(t, "stdio:", transport.Config{})
	l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept: %v", err)
	}
	if n, err := outR.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("stdout is still open: %d, %v", n, err)
	}
	inW.Close()
}
