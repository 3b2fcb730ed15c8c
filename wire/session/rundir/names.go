package rundir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/profile"
	"rpcx/wire/syserr"
)

var validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })

// CheckName rejects a session name that is not valid (rpcx-sessions(7)).
func CheckName(name string) error {
	if len(name) <= 64 && validName().MatchString(name) {
		return nil
	}
	return wire.Usagef("%s is not a valid session name", wire.Quote(name)).
		WithHint("a name has up to 64 letters, digits, dots, dashes and underscores, and begins with a letter or a digit")
}

// socketOf returns the path of the session's socket in dir. The path contains the name, or a hash of the name if the
// path would be too long.
func socketOf(dir, name string) string {
	if path := filepath.Join(dir, PrefixSession+name); len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(dir, PrefixHashed+hex.EncodeToString(sum[:8]))
}

// Find returns the path of the socket of the session name, or "" if there is none. It refuses to use a directory that
// other users can enter.
func Find(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	dir, err := Existing()
	if err != nil || dir == "" {
		return "", err
	}
	path := socketOf(dir, name)
	if _, err := os.Lstat(path); err != nil {
		return "", nil
	}
	return path, nil
}

// Claim creates the socket of a session. If a session with that name is running, it returns a Conflict. If such a
// session was killed, it removes the files that were left behind.
func Claim(name string) (net.Listener, string, error) {
	dir, err := Make()
	if err != nil {
		return nil, "", err
	}
	var l net.Listener
	path := socketOf(dir, name)
	err = Locked(dir, func() error {
		Sweep(dir)
		if _, err := os.Lstat(path); err == nil {
			return wire.NewFault(wire.Conflict, fmt.Sprintf("a session named %s exists", name), nil).
				WithHint("rpcx session close " + name + " ends it; --ensure uses it if it has the same options")
		}
		l, err = Bind(path)
		return err
	})
	if syserr.NoSockets(err) {
		return nil, "", wire.NewFault(wire.Usage, "a session needs Unix sockets, which this system does not have (Windows has them since version 10)", err)
	}
	if err != nil && wire.AsFault(err) == nil {
		err = wire.NewFault(wire.IO, "cannot create the session's socket: "+err.Error(), err)
	}
	return l, path, err
}

// CleanUp removes the files of a killed session, and returns a Fault that reports its end.
func CleanUp(path, name string, cause error) error {
	dir := filepath.Dir(path)
	_ = Locked(dir, func() error {
		Sweep(dir)
		return nil
	})
	return Absent(fmt.Sprintf("session %s has ended: its process was killed", name), cause)
}

// Ended returns the Fault for a session that has just ended.
func Ended(name string, cause error) error {
	if f := ExitFault(name, cause); f != nil {
		return f
	}
	return Absent(fmt.Sprintf("session %s has ended", name), cause)
}

// AnswerTimeout is how long another rpcx process may take for its Hello, which a session sends when it is connected, and
// for each response that does not need the peer.
const AnswerTimeout = 30 * time.Second

// stoppedTimeout is how long rpcx waits for a process that is stopped (SIGSTOP).
const stoppedTimeout = 2 * time.Second

// AnswerContext returns a context that ends when the process pid takes too long to respond. pid is 0 if unknown.
func AnswerContext(ctx context.Context, pid int) (context.Context, context.CancelFunc) {
	bound, cancel := context.WithTimeout(ctx, AnswerTimeout)
	look := time.AfterFunc(stoppedTimeout, func() {
		if stopped(pid) {
			cancel()
		}
	})
	return bound, func() {
		look.Stop()
		cancel()
	}
}

// Silent returns the Fault for a session whose process is running but does not respond. pid is 0 if unknown.
func Silent(name string, pid int, cause error) error {
	why := "its process hangs"
	if stopped(pid) {
		why = "its process is stopped (kill -CONT resumes it)"
	}
	f := wire.NewFault(wire.Unreachable, fmt.Sprintf("session %s does not respond: %s", name, why), cause)
	f.Hint = "end that process (rpcx session: " + name + ") if you no longer need it"
	if pid > 0 {
		f.Hint = fmt.Sprintf("kill -9 %d ends it if you no longer need it", pid)
	}
	return f
}

// errAbsent is the cause for which IsAbsent looks.
var errAbsent = errors.New("there is no such session")

func Absent(message string, cause error) *wire.Fault {
	return wire.NewFault(wire.Unreachable, message, errors.Join(errAbsent, cause))
}

// IsAbsent reports whether err means that there is no such session. The name is then free, or will soon be.
func IsAbsent(err error) bool { return errors.Is(err, errAbsent) }

// SessionNames returns the names of the sessions that have a socket. Names that were replaced by a hash are missing.
func SessionNames() (names []string) {
	dir, err := Existing()
	if err != nil || dir == "" {
		return nil
	}
	return wire.Map(Sockets(dir, PrefixSession), func(path string) string { return strings.TrimPrefix(filepath.Base(path), PrefixSession) })
}

// FreeName returns a name for a session that no session or profile has.
func FreeName() string {
	names, _ := profile.Names()
	names = append(names, SessionNames()...)
	name := "work"
	for n := 2; slices.Contains(names, name); n++ {
		name = "work" + strconv.Itoa(n)
	}
	return name
}

// NotFound returns the Fault for an @NAME that is neither a session nor a profile. It reports why the session ended, or
// suggests the most similar name.
func NotFound(name string) error {
	if f := ExitFault(name, nil); f != nil {
		return f
	}
	f := Absent(fmt.Sprintf("no session or profile is named %q", name), nil)
	names, _ := profile.Names()
	if near := catalog.Nearest(name, append(names, SessionNames()...)); near != "" {
		f.Hint = "did you mean @" + near + "?"
	} else {
		f.Hint = "rpcx session list lists the sessions"
	}
	return f
}
