package session

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session/relay"
	"rpcx/wire/session/rundir"
	"rpcx/wire/testkit"
)

// The socket for calls from a hook is private and closes with its connection.
func TestSocketIsPrivate(t *testing.T) {
	w := newWorld(t, "", where)
	c := w.client()
	path, id, _ := strings.Cut(strings.TrimPrefix(w.back(c), "conversation:"), "#")
	if id == "" {
		t.Error("the endpoint does not name a hook")
	}
	for name, want := range map[string]os.FileMode{path: 0o600 | os.ModeSocket, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Lstat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	other, _, _ := strings.Cut(w.back(w.client()), "#")
	if other == "conversation:"+path {
		t.Error("two connections share a socket")
	}
	again, _, _ := strings.Cut(w.back(c), "#")
	testkit.Expect(t, "the socket of the same connection", again, "conversation:"+path)
	c.Close()
	testkit.Until(t, "the socket is removed", func() bool {
		_, err := os.Lstat(path)
		return os.IsNotExist(err)
	})
	_, err := Open(t.Context(), w.endpoint("conversation:"+path), Options{})
	testkit.Expect(t, "opening a removed socket", testkit.Failed(err), "failed unreachable")
}

// rpcx refuses a runtime directory that is a link or a file. The hook still runs, but cannot call the peer.
func TestRuntimeFolderIsRefused(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"a link": func(dir string) error { return os.Symlink(t.TempDir(), dir) },
		"a file": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "", where)
			dir := filepath.Join(w.dir, "run", "rpcx")
			testkit.OK(t, make(dir))
			testkit.Expect(t, "RPCX_ENDPOINT", w.call(w.client(), "where", ""), `""`)
			if got := w.warned(); !strings.Contains(got, "hooks cannot call the peer") || !strings.Contains(got, dir) {
				t.Errorf("warnings: %q", got)
			}
			os.RemoveAll(dir)
		})
	}
}

// A stopped process that holds the lock on the directory does not block others forever.
func TestRuntimeFolderIsLocked(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		err := rundir.Locked(dir, func() error { return rundir.Locked(dir, func() error { return nil }) })
		if err == nil || !strings.Contains(err.Error(), "another rpcx process has locked it") {
			t.Errorf("locked while another lock is held: %v", err)
		}
	})
	testkit.OK(t, rundir.Locked(dir, func() error { return nil }))
}

// Invalid requests on the socket get an error and do not affect the conversation.
func TestSocketRefuses(t *testing.T) {
	w := newWorld(t, "", where)
	c := w.client("hi=json:1")
	path, _, _ := strings.Cut(strings.TrimPrefix(w.back(c), "conversation:"), "#")
	for send, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}`:                  `"code":-32601`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"unsub"}}`:  `unknown operation`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":[]}`:              `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"cancel","params":[7]}`:           `"result":false`,
		`{"jsonrpc":"2.0","id":1,"method":"cancel"}`:                        `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"notify","params":{"op":"call"}}`: `"result":null`,
		`{"jsonrpc":"2.0","id":1,"method":"raw"}`:                           `only a session`,
		`[]`: `"code":-32600`,
	} {
		testkit.SocketAnswers(t, path, send, want)
	}
	nc, err := net.Dial("unix", path)
	testkit.OK(t, err)
	io.WriteString(nc, "GET / HTTP/1.1\r\n\r\n")
	io.Copy(io.Discard, nc) // until the process closes the socket
	nc.Close()
	testkit.Expect(t, "afterwards", w.call(w.open(w.back(c)), "hi", ""), "1")
}

// When a process that uses the socket dies, its calls and streams are cancelled at the peer.
func TestClientOfTheSocketDies(t *testing.T) {
	hang := `hang=echo $$ > $T/pid; exec sleep 1000`
	tick := `tick=lines:echo $$ > $T/pid; echo 1; exec sleep 1000`
	for name, tt := range map[string]struct{ prefix, hook, open string }{
		"a call":   {"header+", hang, `{"op":"call","method":"hang"}`},
		"a stream": {"", tick, `{"op":"subscribe","method":"tick"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tt.prefix, where)
			path, _, _ := strings.Cut(strings.TrimPrefix(w.back(w.client(tt.hook)), "conversation:"), "#")
			nc, err := net.Dial("unix", path)
			testkit.OK(t, err)
			io.WriteString(nc, `{"jsonrpc":"2.0","id":1,"method":"open","params":`+tt.open+"}\n")
			w.read("pid") // the call is running
			nc.Close()
			w.gone("pid")
		})
	}
}

// A stream that is not read ends, and does not block the connection while a response is pending.
func TestStreamThatIsNotRead(t *testing.T) {
	w := newWorld(t, "",
		`flood=lines:echo $$ > $T/pid; exec yes "\"$(head -c 60000 /dev/zero | tr '\0' x)\""`,
		`go=jq:rpc("ask"; null)`)
	c := w.client(`ask=echo "$RPCX_ENDPOINT" > $T/where; exec sleep 1000`)
	w.start(c, dialect.Call, "go", "")
	r := w.open(w.read("where"))
	st := w.start(r, dialect.Subscribe, "flood", "")
	w.gone("pid")
	var err error
	for err == nil {
		_, err = st.Next(t.Context())
	}
	testkit.Expect(t, "the end of the stream", testkit.Failed(err), "failed io")
}

// A limitedListener fails the given number of times before it accepts connections.
type limitedListener struct {
	net.Listener
	fails atomic.Int32
}

func (l *limitedListener) Accept() (net.Conn, error) {
	if l.fails.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// A process that has run out of descriptors accepts connections again later.
func TestSocketAcceptsAgain(t *testing.T) {
	inner, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	testkit.OK(t, err)
	l := &limitedListener{Listener: inner}
	l.fails.Store(2)
	s := relay.New(&relay.Functions{}, relay.ServerOptions{Dialect: "jsonrpc", Path: inner.Addr().String(), Listener: l})
	s.Serve()
	defer s.Close(0)
	c, err := Open(t.Context(), endpoint.Endpoint{Socket: s.Path}, Options{})
	testkit.OK(t, err)
	c.Close()
}
