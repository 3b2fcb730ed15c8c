package session

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a server on a Unix socket. In its hooks, $T is the directory of the test.
type world struct {
	t      *testing.T
	dir    string
	at     string // endpoint of the server
	server *Server

	mu       sync.Mutex
	warnings []string
}

// where is a hook that returns the endpoint of its connection.
const where = `where=text:printf %s "$RPCX_ENDPOINT"`

func newWorld(t *testing.T, prefix string, hooks ...string) *world {
	t.Helper()
	w := &world{t: t, dir: testkit.SessionFolders(t)}
	w.at = prefix + "unix:" + filepath.Join(w.dir, "s")
	var err error
	w.server, err = Listen(t.Context(), w.endpoint(w.at), w.options(hooks))
	testkit.OK(t, err)
	testkit.Serve(t, w.server)
	return w
}

func (w *world) endpoint(text string) endpoint.Endpoint {
	w.t.Helper()
	e, err := ParseEndpoint(text, "")
	testkit.OK(w.t, err)
	return e
}

func (w *world) options(hooks []string) Options {
	w.t.Helper()
	o := Options{Note: func(peer.Note) {}, Hook: hook.Options{Warn: func(line string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.warnings = append(w.warnings, line)
	}}}
	for _, spec := range hooks {
		e, err := hook.Parse(strings.ReplaceAll(spec, "$T", w.dir))
		testkit.OK(w.t, err)
		o.Hooks = append(o.Hooks, e)
	}
	return o
}

func (w *world) warned() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.warnings, "\n")
}

// client connects to the server with the given hooks.
func (w *world) client(hooks ...string) Conversation { return w.open(w.at, hooks...) }

func (w *world) open(endpoint string, hooks ...string) Conversation {
	w.t.Helper()
	c, err := Open(w.t.Context(), w.endpoint(endpoint), w.options(hooks))
	testkit.OK(w.t, err)
	w.t.Cleanup(func() { c.Close() })
	return c
}

func (w *world) start(c Conversation, kind dialect.OpKind, method, params string) dialect.Stream {
	w.t.Helper()
	return testkit.Start(w.t, c, kind, method, params)
}

func (w *world) call(c Conversation, method, params string) string {
	w.t.Helper()
	return testkit.Call(w.t, c, method, params)
}

func (w *world) next(st dialect.Stream) string {
	w.t.Helper()
	return testkit.Next(w.t, st)
}

// back returns the endpoint that hooks of the server use to call c.
func (w *world) back(c Conversation) string {
	w.t.Helper()
	var at string
	if err := json.Unmarshal([]byte(w.call(c, "where", "")), &at); err != nil || !strings.HasPrefix(at, "conversation:/") {
		w.t.Fatalf("RPCX_ENDPOINT is %q (%v)", at, err)
	}
	return at
}

// read waits until a file has a whole line, which it returns.
func (w *world) read(name string) string { return testkit.Line(w.t, filepath.Join(w.dir, name)) }

// gone waits until the process whose id is in a file has ended.
func (w *world) gone(name string) { testkit.ProcessGone(w.t, filepath.Join(w.dir, name)) }
