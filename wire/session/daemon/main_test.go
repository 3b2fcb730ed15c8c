package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a server on a Unix socket, and a folder that $T in its hooks
// stands for.
type world struct {
	t      *testing.T
	dir    string
	at     string // its endpoint
	server *session.Server

	mu       sync.Mutex
	warnings []string
}

func newWorld(t *testing.T, prefix string, hooks ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	run := filepath.Join(w.dir, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", run)
	t.Setenv("XDG_STATE_HOME", filepath.Join(w.dir, "state"))
	w.at = prefix + "unix:" + filepath.Join(w.dir, "s")
	var err error
	if w.server, err = session.Listen(t.Context(), w.endpoint(w.at), w.options(hooks)); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- w.server.Serve() }()
	t.Cleanup(func() {
		if err := w.server.Close(); err != nil {
			t.Errorf("closing the server: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
		if left, _ := os.ReadDir(filepath.Join(run, "rpcx")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return w
}

func (w *world) endpoint(text string) endpoint.Endpoint {
	w.t.Helper()
	e, err := session.ParseEndpoint(text, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) options(hooks []string) session.Options {
	w.t.Helper()
	o := session.Options{Note: func(peer.Note) {}, Hook: hook.Options{Warn: func(line string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.warnings = append(w.warnings, line)
	}}}
	for _, spec := range hooks {
		e, err := hook.Parse(strings.ReplaceAll(spec, "$T", w.dir))
		if err != nil {
			w.t.Fatal(err)
		}
		o.Hooks = append(o.Hooks, e)
	}
	return o
}

func (w *world) open(endpoint string, hooks ...string) session.Conversation {
	w.t.Helper()
	c, err := session.Open(w.t.Context(), w.endpoint(endpoint), w.options(hooks))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// start opens an operation.
func (w *world) start(c session.Conversation, kind dialect.OpKind, method, params string) dialect.Stream {
	w.t.Helper()
	op := dialect.Op{Kind: kind, Method: method}
	if params != "" {
		op.Params = json.RawMessage(params)
	}
	st, err := c.Open(w.t.Context(), op)
	if err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
	return st
}

// call is what method answers; an error is "error " and its object, a failure
// "failed KIND".
func (w *world) call(c session.Conversation, method, params string) string {
	w.t.Helper()
	op := dialect.Op{Kind: dialect.Call, Method: method}
	if params != "" {
		op.Params = json.RawMessage(params)
	}
	st, err := c.Open(w.t.Context(), op)
	if err != nil {
		return failed(err)
	}
	return w.next(st)
}

func (w *world) next(st dialect.Stream) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	m, err := st.Next(ctx)
	switch {
	case err != nil:
		return failed(err)
	case m.Err != nil:
		return "error " + string(m.Err.JSON())
	}
	return string(m.Body)
}

func failed(err error) string {
	if f := wire.AsFault(err); f != nil {
		return "failed " + string(f.Kind)
	}
	return "failed: " + err.Error()
}

// until polls for what only the system can tell.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain waited until %s", what)
		}
	}
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// socketAnswers sends one line to a socket, from a connection of its own, and
// demands that the first line of the answer holds want.
func socketAnswers(t *testing.T, path, send, want string) {
	t.Helper()
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	io.WriteString(nc, send+"\n")
	line, err := bufio.NewReader(nc).ReadString('\n')
	if err != nil || !strings.Contains(line, want) {
		t.Errorf("%s\n got %s (%v)\nwant %s", send, line, err, want)
	}
}
