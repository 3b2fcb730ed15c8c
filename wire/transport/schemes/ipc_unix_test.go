//go:build unix

package schemes

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is missing, so the IPC channel is not tested with Node.js")
	}
}

func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.js")
	testkit.OK(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestIPCBetweenTwoEndsOfRpcx(t *testing.T) {
	c := dialed(t, "ipc:"+wire.Quote(os.Args[0]), transport.Config{Env: helperEnv("ipc")})
	for _, msg := range []string{`{"a":1}`, `["` + strings.Repeat("x", 1<<20) + `"]`, `{"text":"NODE_ENV"}`, `{"cmd":"NODE_"}`, `{"cmd":5,"x":"NODE_HANDLE"}`} {
		wantEcho(t, c, msg)
	}
	idle := 0
	c.(wire.Idler).OnIdle(func() { idle++ })
	b := c.(wire.Batcher)
	b.SendBuffered([]byte("[1]"))
	b.SendBuffered([]byte("[2]"))
	testkit.OK(t, b.Flush())
	if testkit.Recv(t, c) != "[1]" || testkit.Recv(t, c) != "[2]" || idle == 0 {
		t.Errorf("OnIdle was called %d times", idle)
	}
	returns(t, "Close", func() { c.Close() })
}

func TestIPCWithANodeChild(t *testing.T) {
	needNode(t)
	file := script(t, `
		console.log('on stdout'); console.error('on stderr');
		process.on('message', m => process.send({echo: m, fd: process.env.NODE_CHANNEL_FD ?? null}));
		process.on('disconnect', () => { console.log('disconnected'); process.exit(0) });
		process.send({ready: true});`)
	var stderr lockedBuffer
	c := dialed(t, "ipc:node "+file, transport.Config{Stderr: &stderr})
	wantRecv(t, c, `{"ready":true}`)
	mustSend(t, c, `{"jsonrpc":"2.0","id":1,"method":"é"}`)
	wantRecv(t, c, `{"echo":{"jsonrpc":"2.0","id":1,"method":"é"},"fd":null}`)
	returns(t, "Close", func() { c.Close() })
	for _, line := range []string{"on stdout\n", "on stderr\n", "disconnected\n"} {
		if !strings.Contains(stderr.String(), line) {
			t.Errorf("stderr has no %q: %s", line, stderr.String())
		}
	}
}

func TestIPCNodeChildSendsAHandle(t *testing.T) {
	needNode(t)
	file := script(t, `
		const s = require('net').createServer().listen(0, '127.0.0.1', () => {
			process.send({with: 'handle'}, s);
			process.send({after: 1});
			process.send({cmd: 'NODE_X', y: 1});
			process.send({after: 2});
		});`)
	var warned []string
	c := dialed(t, "ipc:node "+file, transport.Config{CloseTimeout: 200 * time.Millisecond, Warn: func(line string) { warned = append(warned, line) }})
	for _, want := range []string{`{"with":"handle"}`, `{"after":1}`, `{"after":2}`} {
		wantRecv(t, c, want)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "NODE_HANDLE") {
		t.Errorf("warnings: %q", warned)
	}
}

func TestIPCAsAChildOfNode(t *testing.T) {
	needNode(t)
	file := script(t, fmt.Sprintf(`
		const c = require('child_process').spawn(%q, [], {stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: {...process.env, %s: 'ipc', GORACE: 'atexit_sleep_ms=0'}});
		c.on('message', m => { console.log(JSON.stringify(m)); if (m.n == 3) c.disconnect(); else c.send({n: m.n + 1}) });
		c.on('exit', code => console.log('exit ' + code));
		c.send({n: 1});`, os.Args[0], helperMode))
	out, err := exec.Command("node", file).CombinedOutput()
	if want := "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\nexit 0\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestIPCWithoutAParent(t *testing.T) {
	for _, c := range []struct{ fd, mode, says string }{
		{"", "", "not set"},
		{"x", "", "not an open socket"},
		{"1", "", "not an open socket"},
		{"9999", "", "not an open socket"},
		{"3", "advanced", "advanced"},
	} {
		t.Setenv("NODE_CHANNEL_FD", c.fd)
		t.Setenv("NODE_CHANNEL_SERIALIZATION_MODE", c.mode)
		_, err := dial(t.Context(), "ipc:", transport.Config{})
		wantFault(t, err, wire.Usage, c.says)
	}
}

func TestIPCTakesTheChannelOnce(t *testing.T) {
	ours, theirs := rawPair(t, "socket")
	n, err := unix.Dup(mustNumber(t, theirs)) // Dial closes the descriptor
	theirs.Close()
	testkit.OK(t, err)
	t.Setenv("NODE_CHANNEL_FD", fmt.Sprint(n))
	t.Setenv("NODE_CHANNEL_SERIALIZATION_MODE", "json")
	c := dialed(t, "ipc:", transport.Config{})
	if _, ok := c.(wire.HalfCloser); ok {
		t.Error("one direction of an IPC channel can be closed, which Node.js does not support")
	}
	if _, set := os.LookupEnv("NODE_CHANNEL_FD"); set {
		t.Error("children of rpcx would inherit its channel")
	}
	go ours.Write([]byte("[1]\n"))
	wantRecv(t, c, "[1]")
	ours.Close()
	if _, err := c.Recv(); err != io.EOF {
		var end *wire.CloseError
		if !errors.As(err, &end) {
			t.Errorf("after the parent closed the channel: %v", err)
		}
	}
}
