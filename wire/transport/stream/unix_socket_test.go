package stream

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

func TestListenUnix(t *testing.T) {
	path := socketName(t)
	l, err := ListenUnix(path)
	testkit.OK(t, err)
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("%v %v", info.Mode(), err)
	}
	_, err = ListenUnix(path)
	wantRefusal(t, err, wire.Conflict, path, "another process")

	// The socket that another process has created under this name must stay.
	os.Rename(path, path+".old")
	second, err := ListenUnix(path)
	testkit.OK(t, err)
	l.Close()
	if c, err := net.Dial("unix", path); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	second.Close()
	second.Close()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket was not removed")
	}
}

func TestListenUnixReplacesOnlyStaleSockets(t *testing.T) {
	path := socketName(t)
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	testkit.OK(t, err)
	dead.SetUnlinkOnClose(false)
	dead.Close()
	l, err := ListenUnix(path)
	testkit.OK(t, err)
	l.Close()

	for what, make := range map[string]func() error{
		"a file":      func() error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"a directory": func() error { return os.Mkdir(path, 0o700) },
		"a symlink":   func() error { return os.Symlink("/nowhere", path) },
	} {
		testkit.OK(t, make())
		_, err := ListenUnix(path)
		wantRefusal(t, err, wire.Conflict, "not a socket")
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s was removed", what)
		}
		os.Remove(path)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Many processes race for the name of a stale socket, and one gets it.
func TestListenUnixRace(t *testing.T) {
	path := socketName(t)
	for range 20 {
		dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		testkit.OK(t, err)
		dead.SetUnlinkOnClose(false)
		dead.Close()
		var won atomic.Int32
		var wg sync.WaitGroup
		got := make(chan net.Listener, 8)
		for range 8 {
			wg.Go(func() {
				l, err := ListenUnix(path)
				if err == nil {
					won.Add(1)
					got <- l
				} else if f := wire.AsFault(err); f == nil || f.Kind != wire.Conflict {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		testkit.Expect(t, "listeners that succeeded", won.Load(), 1)
		close(got)
		for l := range got {
			l.Close()
		}
	}
}

func TestListenUnixNames(t *testing.T) {
	dir := filepath.Dir(socketName(t))
	t.Chdir(dir)
	long := filepath.Join(dir, strings.Repeat("x", maxUnixPath()-len(dir)-1))
	short := filepath.Join(dir, strings.Repeat("y", 92-len(dir))) // long enough that a temporary name in the directory would be too long
	for _, path := range []string{"relative.sock", "@at", filepath.Join(dir, "plain"), short, long} {
		l, err := ListenUnix(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", path, err)
		}
		l.Close()
	}
	for name, kind := range map[string]wire.FaultKind{filepath.Join(dir, "none", "s"): wire.Unreachable, short: wire.Conflict} {
		_ = os.WriteFile(short, nil, 0o600)
		_, err := ListenUnix(name)
		wantRefusal(t, err, kind, name)
	}
	_, err := ListenUnix(long + "x")
	wantRefusal(t, err, wire.Usage, "107")
	_, err = ListenUnix("")
	wantRefusal(t, err, wire.Usage)
}

// socketName returns a name that is short enough for a socket, and checks that the test leaves no files.
func socketName(t *testing.T) string {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	return filepath.Join(testkit.ShortDir(t), "s.sock")
}

// wantRefusal checks the kind of a Fault, and that its message contains all words.
func wantRefusal(t *testing.T, err error, kind wire.FaultKind, words ...string) {
	t.Helper()
	f := wire.AsFault(err)
	if f == nil || f.Kind != kind {
		t.Fatalf("got %T %v, want a Fault of kind %s", err, err, kind)
	}
	for _, w := range words {
		if !strings.Contains(f.Message, w) {
			t.Errorf("%q does not contain %q", f.Message, w)
		}
	}
}
