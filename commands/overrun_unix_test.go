//go:build unix

package commands

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// overrunCommands are the commands that wait for a peer; E stands for the endpoint.
var overrunCommands = []struct{ dialect, words, stdin string }{
	{"jsonrpc", "call E add", ""},
	{"jsonrpc", "call E --batch", `{"method":"add"}`},
	{"jsonrpc", "subscribe E ticks", ""},
	{"jsonrpc", "connect E", `{"id":1,"method":"add"}`},
	{"scomp", "eval E 1", ""},
	{"introspect", "describe E", ""},
	{"ro", "job run E user:add", ""},
	{"hotrepl", "job run E build", ""},
	{"scriptling", "plugin call E f", ""},
}

// question is what a peer asks, without end, that never reads an answer.
const question = `{"jsonrpc":"2.0","id":7,"method":"ask","params":["` + "................................................................" + `"]}`

// overrunChildren are the children that would draw out the end of a command.
var overrunChildren = map[string]string{
	"asks":  `read l; exec yes '` + question + `'`,
	"hangs": `read l; exec sleep 600`,
	"stops": `read l; kill -STOP $$`,
	"stays": `trap "" TERM INT; read l; while :; do sleep 0.1; done`,
}

// TestTimeoutIsKept: whatever the peer does, every command has ended a second after
// its --timeout, or after a signal.
func TestTimeoutIsKept(t *testing.T) {
	t.Parallel()
	endpoints := map[string]string{}
	for how, script := range overrunChildren {
		endpoints["exec "+how] = "exec:sh -c '" + strings.ReplaceAll(script, "'", `'"'"'`) + "'"
	}
	for _, scheme := range []string{"tcp", "ws"} {
		for _, how := range []string{"asks", "hangs"} {
			endpoints[scheme+" "+how] = scheme + "://" + drawOut(t, scheme, how)
		}
	}
	for name, endpoint := range endpoints {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // but one command after the other: those that are flooded would be late for each other's sake
			for _, c := range overrunCommands {
				for _, by := range []string{"timeout", "signal"} {
					if by == "signal" && !strings.HasPrefix(name, "exec") {
						continue
					}
					t.Run(c.words+" "+by, func(t *testing.T) {
						var late time.Duration
						for range 3 { // the machine may have had something else to do
							if late = overrun(t, c.words, c.dialect+"+"+endpoint, c.stdin, by == "signal"); late < patiently*1300*time.Millisecond {
								return
							}
						}
						t.Errorf("it ended %v after it was to end", late)
					})
				}
			}
		})
	}
}

// TestTimeoutIsKeptOverHTTP: so it is where each reply, those to our answers too, is an
// event stream of questions without end.
func TestTimeoutIsKeptOverHTTP(t *testing.T) {
	t.Parallel()
	endpoint := "http://" + drawOut(t, "http", "asks") + "/"
	for _, c := range append(overrunCommands, struct{ dialect, words, stdin string }{"jsonrpc", "call E add --notify", ""}, struct{ dialect, words, stdin string }{"mcp", "call E add", ""}) {
		if c.dialect == "scomp" || c.dialect == "hotrepl" || c.dialect == "scriptling" {
			continue // the peer is asked something before, or there is no such thing
		}
		t.Run(c.dialect+" "+c.words, func(t *testing.T) {
			var late time.Duration
			for range 3 {
				if late = overrun(t, c.words, c.dialect+"+"+endpoint, c.stdin, false); late < patiently*1300*time.Millisecond {
					return
				}
			}
			t.Errorf("it ended %v after it was to end", late)
		})
	}
}

// overrun runs a command and returns how long after its deadline, or a signal, it ended.
func overrun(t *testing.T, words, endpoint, stdin string, bySignal bool) time.Duration {
	t.Helper()
	const limit = 500 * time.Millisecond
	var args []string
	for _, w := range strings.Fields(words) {
		if w == "E" {
			w = endpoint
		}
		args = append(args, w)
	}
	want, sig := 124, time.Duration(0)
	if bySignal {
		want, sig = -1, limit
	} else {
		args = append(args, "--timeout", limit.String())
	}
	cmd := exec.Command("rpcx", args...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &said
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if bySignal {
		time.AfterFunc(sig, func() { cmd.Process.Signal(syscall.SIGTERM) })
	}
	hung := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer hung.Stop()
	err := cmd.Wait()
	late := time.Since(start) - limit
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != want {
		t.Errorf("rpcx %q: %v: %.300s", args, err, said.Bytes())
	}
	return late
}

// drawOut listens for peers that would draw out the end of a command, and returns
// where.
func drawOut(t *testing.T, scheme, how string) string {
	t.Helper()
	return listening(t, func(c net.Conn) {
		c.SetDeadline(time.Now().Add(2 * patience))
		msg := []byte(question + "\n")
		if scheme == "ws" {
			msg = append([]byte{0x81, byte(len(question))}, question...)
			acceptUpgrade(c)
		}
		if scheme == "http" {
			r, err := http.ReadRequest(bufio.NewReader(c))
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
			msg = []byte("data: " + question + "\n\n")
		}
		if how == "hangs" {
			time.Sleep(patience)
		}
		for err := error(nil); err == nil; {
			_, err = c.Write(msg)
		}
	})
}
