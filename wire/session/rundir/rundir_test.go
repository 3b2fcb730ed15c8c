//go:build unix

package rundir

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// A session name has up to 64 letters, digits, dots, dashes and underscores.
func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"azAZ09._-": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "": false, "-a": false, "a@": false, "a[": false, "a/": false, "a:": false,
	} {
		testkit.Expect(t, name, CheckName(name) == nil, ok)
	}
}

// TestPlace checks which directory has the sockets, and that only this user may enter it.
func TestPlace(t *testing.T) {
	run, temp := t.TempDir(), filepath.Join(t.TempDir(), strings.Repeat("x", maxSocketPath))
	t.Setenv("XDG_RUNTIME_DIR", run)
	dir, err := Make()
	if err != nil || dir != filepath.Join(run, "rpcx") {
		t.Fatal(dir, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info, err)
	}
	l, err := Bind(filepath.Join(dir, "s-a"))
	testkit.OK(t, err)
	if info, err := os.Stat(filepath.Join(dir, "s-a")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	nc, err := net.Dial("unix", filepath.Join(dir, "s-a"))
	testkit.OK(t, err)
	if pid := PeerPID(nc); runtime.GOOS == "linux" && pid != os.Getpid() {
		t.Errorf("the socket belongs to process %d", pid)
	}
	nc.Close()
	if one, _ := net.Pipe(); PeerPID(one) != 0 {
		t.Error("a pipe in memory has a process")
	}
	// The file remains, and Sweep removes it.
	l.Close()
	if names := SessionNames(); len(names) != 1 || names[0] != "a" {
		t.Error(names)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if _, path, err := Claim("a"); err != nil || path != filepath.Join(dir, "s-a") {
		t.Error(path, err)
	}
	_, _, err = Claim("a")
	testkit.Expect(t, "claiming it again", testkit.Failed(err), "failed conflict")
	for mode, ok := range map[os.FileMode]bool{0o700: true, 0o710: false, 0o701: false} {
		testkit.OK(t, os.Chmod(dir, mode))
		if path, err := Find("a"); (err == nil && path != "") != ok {
			t.Errorf("mode %o: %q, %v", mode, path, err)
		}
	}
	testkit.OK(t, os.RemoveAll(dir))
	if path, err := Find("a"); path != "" || err != nil {
		t.Error(path, err)
	}
	testkit.Expect(t, "locking a missing directory", testkit.Failed(Locked(dir, func() error { return nil })), "failed io")
	if _, err := Bind(filepath.Join(dir, "s-a")); err == nil {
		t.Error("a socket in a missing directory")
	}
	testkit.OK(t, os.Symlink(run, dir))
	if _, err := Make(); err == nil || !strings.Contains(err.Error(), "is not a directory that belongs to this user") {
		t.Error(err)
	}
	mine := "rpcx-" + strconv.Itoa(os.Getuid())
	fits := "/" + strings.Repeat("x", maxSocketPath-len(socketName)-len("//rpcx/"))
	for _, c := range []struct{ xdg, tmp, want string }{
		{temp, temp, "/tmp/" + mine}, // the path of a socket in the others would be too long
		{fits, temp, fits + "/rpcx"},
		{"relative", "/t", "/t/" + mine},
	} {
		t.Setenv("XDG_RUNTIME_DIR", c.xdg)
		t.Setenv("TMPDIR", c.tmp)
		place, err := runtimePlace()
		testkit.OK(t, err)
		testkit.Expect(t, "the directory for "+c.xdg, place, c.want)
	}
}

// TestEnded checks the Fault for a session that has ended.
func TestEnded(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if err := Ended("a", os.ErrClosed); !IsAbsent(err) || err.Error() != "session a has ended" {
		t.Error(err)
	}
	dir, err := runtimePlace()
	testkit.OK(t, err)
	RecordExit(socketOf(dir, "a"), "idle")
	if err := Ended("a", os.ErrClosed); !IsAbsent(err) || err.Error() != "session a ended 0s ago: idle" || !strings.Contains(wire.AsFault(err).Hint, "--session a opens it again") {
		t.Error(err)
	}
}
