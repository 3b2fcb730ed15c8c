package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rpcx/wire/testkit"
)

// A teletype is rpcx on a terminal of its own. scripts/interop tests the screen of the prompt.
type teletype struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	before unix.Termios
	cmd    *exec.Cmd

	mu   sync.Mutex
	came []byte
	seen int // the end of the latest awaited text
}

func onTerminal(t *testing.T, args ...string) *teletype {
	t.Helper()
	return onTerminalOf(t, "rpcx", args...)
}

// onTerminalOf runs another program on a terminal.
func onTerminalOf(t *testing.T, program string, args ...string) *teletype {
	t.Helper()
	master, slave := terminal(t)
	y := &teletype{t: t, master: master, slave: slave, before: *termios(t, slave)}
	dir := t.TempDir()
	y.cmd = exec.Command(program, args...)
	y.cmd.Dir = dir
	y.cmd.Stdin, y.cmd.Stdout, y.cmd.Stderr = slave, slave, slave
	y.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	y.cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "HOME="+dir, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "GORACE=atexit_sleep_ms=0")
	testkit.OK(t, y.cmd.Start())
	t.Cleanup(func() {
		_ = y.cmd.Process.Kill()
		_ = slave.Close()
		_ = master.Close()
	})
	go y.read()
	return y
}

// terminal returns both ends of a new terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := openTerminal()
	if err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	return master, slave
}

// openTerminal returns both ends of a terminal with 80 columns and 24 lines.
func openTerminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	n, err := 0, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	if err == nil {
		n, err = unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	return master, slave, err
}

func termios(t *testing.T, f *os.File) *unix.Termios {
	t.Helper()
	s, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	testkit.OK(t, err)
	return s
}

func (y *teletype) read() {
	b := make([]byte, 4096)
	for {
		n, err := y.master.Read(b)
		y.mu.Lock()
		y.came = append(y.came, b[:n]...)
		y.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (y *teletype) output() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return string(y.came)
}

// shows waits for text after the latest awaited text.
func (y *teletype) shows(text string) {
	y.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		y.mu.Lock()
		i := bytes.Index(y.came[y.seen:], []byte(text))
		if i >= 0 {
			y.seen += i + len(text)
		}
		came := string(y.came[max(0, len(y.came)-2000):])
		y.mu.Unlock()
		if i >= 0 {
			return
		}
		if time.Now().After(end) {
			y.t.Fatalf("%q did not appear: …%q", text, came)
		}
	}
}

func (y *teletype) types(text string) {
	y.t.Helper()
	if _, err := y.master.WriteString(text); err != nil {
		y.t.Fatal(err)
	}
}

// exits waits until the program ends, and checks the exit status and that the terminal is restored.
func (y *teletype) exits(status int) {
	y.t.Helper()
	err := y.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		y.t.Fatal(err)
	}
	if got := shellStatus(y.cmd.ProcessState); got != status {
		y.t.Errorf("status %d, want %d: %q", got, status, y.output())
	}
	if after := *termios(y.t, y.slave); after != y.before {
		y.t.Errorf("the terminal is not restored: %+v, before %+v", after, y.before)
	}
}

// onPrompt runs rpcx connect on a terminal, and waits for the prompt.
func onPrompt(t *testing.T, args ...string) *teletype {
	t.Helper()
	y := onTerminal(t, append([]string{"connect"}, args...)...)
	y.shows("> ")
	return y
}

// leaves ends the prompt with Ctrl-D.
func (y *teletype) leaves() {
	y.t.Helper()
	y.types("\x04")
	y.exits(0)
}

func TestPrompt(t *testing.T) {
	y := onPrompt(t, "demo:orders", "-c")
	y.types("getOrder id=o_001\r")
	y.shows(`{"customer":"Ada Lovelace"`)
	y.types("help\r")
	y.shows("Ctrl-D, exit or quit ends")
	y.types("?\r")
	y.shows("rpcx help prompt")
	y.types("getOrdr\r")
	y.shows("did you mean getOrder?")
	y.types("getOrder -\r")
	y.shows("stdin is the keyboard")
	y.types(`"" x=1` + "\r")
	y.shows("the method is missing")
	y.types("{\"id\":5}\r")
	y.types("7\r") // accepted as a method
	y.shows("rpcx: 7: ")
	y.types("slowReport\r")
	y.types("getOrder id=o_002\r")
	y.shows(`"o_002"`)
	y.types("\x03")
	y.shows("slowReport: cancelled")
	y.types("approveOrder id=o_002\r")
	y.shows(`"method":"approve"`)
	y.types("{\"id\":1,\r\"error\":{\"code\":5,\"message\":\"no\"}}\r")
	y.shows("nobody approved o_002: no")
	y.types("getOrder id=" + strings.Repeat("9", 4100))
	y.shows("the line is full")
	y.types("\x03")
	y.types("\x1b[200~getOrder id=" + strings.Repeat("9", 5000) + "!\x1b[201~\r")
	y.shows("does not match the pattern")
	y.leaves()
	b, err := os.ReadFile(filepath.Join(y.cmd.Dir, ".local/state/rpcx/history"))
	if err != nil || !strings.HasPrefix(string(b), "getOrder id=o_001\nhelp\n?\ngetOrdr\n") || !strings.Contains(string(b), `{"id":1, "error"`) {
		t.Errorf("%q, %v", b, err)
	}
}

// Editing keys treat a wide or combined character as one character. rpcx sends the text as typed, and restores it from the history.
func TestPromptWide(t *testing.T) {
	y := onPrompt(t, "exec:sh -c 'while read -r l; do echo got $l >&2; done'")
	y.types("漢😀\x7f字 k=e\u0301\x1b[D\x1b[D\x1b[D\x1b[D\x1b[Dx\r")
	y.shows(`"method":"漢x字","params":{"k":"é"}`)
	y.types("\x1b[A\x01\x1b[3~y\r")
	y.shows(`"method":"yx字","params":{"k":"é"}`)
	y.leaves()
}

// Output to stderr appears above the line that is being typed, which is drawn again.
func TestPromptKeepsTheLine(t *testing.T) {
	y := onPrompt(t, "exec:sh -c 'until test -e go; do sleep 0.01; done; echo noise >&2; cat >/dev/null'")
	y.types("half a line")
	y.shows("half a line")
	testkit.OK(t, os.WriteFile(filepath.Join(y.cmd.Dir, "go"), nil, 0o600))
	y.shows("noise\r\n")
	y.shows("> half a line")
	y.types("\x03\x04")
	y.exits(0)
}

// The prompt explains a request of the peer once, by its id. A long id is cut.
func TestPromptExplainsRequests(t *testing.T) {
	peer := filepath.Join(t.TempDir(), "peer.sh")
	script := fmt.Sprintf(`printf '{"jsonrpc":"2.0","id":"%%s","method":"ask"}\n' %s second; cat >/dev/null`, strings.Repeat("x", 60))
	testkit.OK(t, os.WriteFile(peer, []byte(script), 0o600))
	y := onTerminal(t, "connect", "exec:sh "+peer)
	y.shows(`no hook answers this request; type {"id":"` + strings.Repeat("x", 38) + `…,"result":…}`)
	y.shows(`"second"`)
	y.types("{7}\r")
	y.shows("not sent: ")
	y.leaves()
	if n := strings.Count(y.output(), "no hook answers this request"); n != 1 {
		t.Errorf("the warning appears %d times", n)
	}
}

// The prompt ends if its output cannot be written.
func TestPromptWithoutRoom(t *testing.T) {
	y := onPrompt(t, "demo:orders", "--output", "/dev/full")
	y.types("getOrder id=o_001\rgetOrder id=o_001\r") // rpcx may write both results at once
	y.shows("no space left on device")
	y.exits(74)
}

// Without a shell that could resume rpcx, Ctrl-Z and SIGCONT change nothing. The line is drawn again, even if the terminal was
// resized. Ctrl-C discards a line of several rows.
func TestPromptContinues(t *testing.T) {
	y := onPrompt(t, "demo:orders", "-c", "-q", ".id")
	y.types("getOrder id=o_0")
	y.shows("id=o_0")
	y.types("\x1a")
	y.shows("> getOrder id=o_0")
	testkit.OK(t, y.cmd.Process.Signal(syscall.SIGCONT))
	y.shows("> getOrder id=o_0")
	testkit.OK(t, unix.IoctlSetWinsize(int(y.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 12}))
	y.shows("> getOrder i\r\nd=o_0")
	y.types("02\r")
	y.shows(`"o_002"`)
	y.types("getOrder {\r")
	y.shows("… ")
	y.types("\x03")
	y.shows("> ")
	y.types("getOrder id=o_003\r")
	y.shows(`"o_003"`)
	y.leaves()
}

// The prompt ends with status 0 if the peer closes the connection without a call in flight.
func TestPromptOfAPeerThatCloses(t *testing.T) {
	y := onPrompt(t, "exec:head -n 1")
	y.types("{\"n\":1}\r")
	y.shows("the peer closed the connection")
	y.exits(0)
}

// exit and quit end the prompt, as Ctrl-D does.
func TestPromptEnds(t *testing.T) {
	for _, word := range []string{"exit", " quit "} {
		y := onPrompt(t, "demo:orders", "-c")
		y.types(word + "\r")
		y.exits(0)
	}
}

// Calling a method that streams subscribes to it, and Tab completes its name. Lines with secrets or a leading blank are not added
// to the history.
func TestPromptStreamsAndForgets(t *testing.T) {
	y := onPrompt(t, "demo:orders", "-c")
	y.types("watchO\t")
	y.shows("watchOrders")
	y.types(" count:=2 interval:=0\r")
	y.shows(`"n":1`)
	y.shows(`"n":2`)
	y.types("getOrder id=o_001 password=HUSH\r")
	y.shows("password")
	y.types(" getOrder id=o_002\r")
	y.shows(`"o_002"`)
	y.types("getOrder id=o_003\r")
	y.shows(`o_003`)
	y.leaves()
	b, err := os.ReadFile(filepath.Join(y.cmd.Dir, ".local/state/rpcx/history"))
	if err != nil || strings.Contains(string(b), "HUSH") || strings.Contains(string(b), "o_002") || !strings.Contains(string(b), "o_003") {
		t.Errorf("%q, %v", b, err)
	}
	y = onTerminal(t, "connect", "demo:orders", "--count", "2")
	y.shows("end the prompt with Ctrl-D")
	y.exits(2)
}

// The prompt waits for the result of a job.
func TestPromptWaitsForJobs(t *testing.T) {
	y := onPrompt(t, "demo:hotrepl", "-c")
	y.types("archive.export\r")
	y.shows(`{"itemsExported":2}`)
	y.types("{\"type\":\"eval\",\"id\":\"mine\",\"code\":\"6 * 7\"}\r")
	y.shows(`"value":42`)
	y.leaves()
}

func TestPromptRestoresTheTerminal(t *testing.T) {
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGQUIT: 2} {
		y := onPrompt(t, "demo:orders")
		y.types("slowReport seconds:=60\rhalf a line")
		y.shows("half a line")
		_ = y.cmd.Process.Signal(signal)
		y.exits(status)
	}
	y := onPrompt(t, "exec:sh -c 'read -r line; echo gone >&2'")
	y.types("x\r")
	y.shows(`before "x" was answered`)
	said := y.seen
	y.exits(7)
	if again := y.output()[said:]; strings.Contains(again, "sh ended") {
		t.Errorf("the reason is printed twice: %q", again)
	}
	y = onTerminal(t, "connect", "demo:orders", "--timeout", "300ms")
	y.shows("--timeout")
	y.exits(124)
}

// A blocked terminal delays neither the second Ctrl-C nor the restoring of the terminal.
func TestPromptOnAStuckTerminal(t *testing.T) {
	y := onTerminal(t, "connect", `exec:yes '{"jsonrpc":"2.0","method":"tick"}'`)
	y.shows(`"tick"`)
	y.mu.Lock() // blocks reading
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		y.exits(143)
	}()
	for {
		select {
		case <-gone:
			y.mu.Unlock()
			return
		case <-time.After(20 * time.Millisecond):
			_ = y.cmd.Process.Signal(syscall.SIGTERM)
		}
	}
}
