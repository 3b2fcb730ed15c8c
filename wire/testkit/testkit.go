// Package testkit contains helpers for the tests of several packages.
package testkit

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// Expect compares got with want. what names them in the failure.
func Expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// OK ends the test if err is not nil.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Recv receives one message and returns a copy. An error ends the test.
func Recv(t testing.TB, c wire.Conn) string {
	t.Helper()
	msg, err := c.Recv()
	if err != nil {
		t.Fatalf("recv: %v", err)
	}
	return string(msg)
}

// RaceSkips skips a test that the race detector cannot help, or whose measurements it changes. scripts/check finds all tests that
// mention Race or RaceSkips, and runs them without the race detector, too.
func RaceSkips(t *testing.T) {
	t.Helper()
	if Race {
		t.Skip("scripts/check also runs this test without the race detector")
	}
}

// Samples reports whether tests with many cases run only a sample of them, because of the race detector or the flag -short.
// scripts/check --ci finds these tests in the same way as those that mention Race, and also runs them in full.
func Samples() bool { return Race || testing.Short() }

// Sampled reports whether case number i is to be tested: each case, or an eighth of them if Samples is true.
func Sampled(i int) bool { return i%8 == 0 || !Samples() }

// SampleSkips skips a test that takes long and has no cases to leave out, if Samples is true.
func SampleSkips(t *testing.T) {
	t.Helper()
	if Samples() {
		t.Skip("scripts/check --ci runs this test")
	}
}

// Heap returns the memory in use after a garbage collection, in bytes.
func Heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Failed returns an error in the form that tests compare: "failed " and the kind of a Fault, or "failed: " and the text
// of another error, or "no error".
func Failed(err error) string {
	if err == nil {
		return "no error"
	}
	if f := wire.AsFault(err); f != nil {
		return "failed " + string(f.Kind)
	}
	return "failed: " + err.Error()
}

// Message returns a decoded message as a line, in the form that tests compare.
func Message(m wire.Message) string {
	s := m.Kind.String()
	add := func(name, val string) {
		if val != "" {
			s += " " + name + "=" + val
		}
	}
	add("id", string(m.ID))
	add("stream", string(m.Stream))
	add("target", string(m.Target))
	add("method", m.Method)
	add("params", string(m.Params))
	add("body", string(m.Body))
	if m.Err != nil {
		add("error", m.Err.Error())
	}
	if m.Final {
		s += " final"
	}
	return s
}

// Catalog returns the catalog in text.
func Catalog(t *testing.T, text string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return c
}

// ShortDir creates a directory whose path is short enough for Unix sockets: unlike t.TempDir, it does not contain the
// name of the test.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// SessionFolders creates a directory for the sockets and the state of sessions, and checks at the end of the test that
// no socket remains.
func SessionFolders(t *testing.T) (dir string) {
	t.Helper()
	dir = ShortDir(t)
	run := filepath.Join(dir, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", run)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Cleanup(func() {
		if left, _ := os.ReadDir(filepath.Join(run, "rpcx")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return dir
}

// Serve runs a server until the end of the test. Serve and Close must not return errors.
func Serve(t *testing.T, s interface {
	Serve() error
	Close() error
},
) {
	t.Helper()
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the server: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
}

// Until polls until ok returns true, for at most a minute.
func Until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out while waiting until %s", what)
		}
	}
}

// Line waits until a file contains a whole line, and returns the line.
func Line(t *testing.T, file string) string {
	t.Helper()
	var b []byte
	Until(t, file+" holds a line", func() bool {
		b, _ = os.ReadFile(file)
		return strings.HasSuffix(string(b), "\n")
	})
	return strings.TrimSpace(string(b))
}

// ProcessGone waits until the process whose id is in a file has ended.
func ProcessGone(t *testing.T, file string) {
	t.Helper()
	pid, err := strconv.Atoi(Line(t, file))
	if err != nil {
		t.Fatal(err)
	}
	Until(t, "process "+strconv.Itoa(pid)+" has ended", func() bool {
		if !exists(pid) {
			return true
		}
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		_, rest, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(rest, "Z") // ended, but not reaped
	})
}

// SocketAnswers sends one line on a new connection to a Unix socket. It checks that the first line of the response
// contains want.
func SocketAnswers(t *testing.T, path, send, want string) {
	t.Helper()
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, send+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(nc).ReadString('\n')
	if err != nil || !strings.Contains(line, want) {
		t.Errorf("%s\n got %s (%v)\nwant %s", send, line, err, want)
	}
}

// Listen listens until the end of the test and calls serve for each connection. It returns the address of the listener.
func Listen(t *testing.T, network, address string, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer func() { _ = c.Close() }(); serve(c) }()
		}
	}()
	return l.Addr().String()
}

// An Opener is a connection on which operations can be opened.
type Opener interface {
	Open(ctx context.Context, op dialect.Op) (dialect.Stream, error)
}

// Start opens an operation, or fails the test. params are JSON or "".
func Start(t *testing.T, c Opener, kind dialect.OpKind, method, params string) dialect.Stream {
	t.Helper()
	st, err := c.Open(t.Context(), operation(kind, method, params))
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return st
}

// Call returns the result of a call as text: the result, "error " and the error object, or the text of Failed.
func Call(t *testing.T, c Opener, method, params string) string {
	t.Helper()
	st, err := c.Open(t.Context(), operation(dialect.Call, method, params))
	if err != nil {
		return Failed(err)
	}
	return Next(t, st)
}

func operation(kind dialect.OpKind, method, params string) dialect.Op {
	op := dialect.Op{Kind: kind, Method: method}
	if params != "" {
		op.Params = json.RawMessage(params)
	}
	return op
}

// Next returns the next message of a stream, in the same form as Call.
func Next(t *testing.T, st dialect.Stream) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m, err := st.Next(ctx)
	switch {
	case err != nil:
		return Failed(err)
	case m.Err != nil:
		return "error " + string(m.Err.JSON())
	}
	return string(m.Body)
}
