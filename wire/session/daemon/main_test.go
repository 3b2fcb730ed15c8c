package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/session"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a server on a Unix socket. In its hooks, $T is the directory of the test.
type world struct {
	t   *testing.T
	dir string
	at  string // endpoint of the server
}

func newWorld(t *testing.T, hooks ...string) *world {
	t.Helper()
	w := &world{t: t, dir: testkit.SessionFolders(t)}
	w.at = "unix:" + filepath.Join(w.dir, "s")
	s, err := session.Listen(t.Context(), w.endpoint(w.at), w.options(hooks))
	testkit.OK(t, err)
	testkit.Serve(t, s)
	return w
}

func (w *world) endpoint(text string) endpoint.Endpoint {
	w.t.Helper()
	e, err := session.ParseEndpoint(text, "")
	testkit.OK(w.t, err)
	return e
}

func (w *world) options(hooks []string) session.Options {
	w.t.Helper()
	o := session.Options{Note: func(peer.Note) {}}
	for _, spec := range hooks {
		e, err := hook.Parse(strings.ReplaceAll(spec, "$T", w.dir))
		testkit.OK(w.t, err)
		o.Hooks = append(o.Hooks, e)
	}
	return o
}

func (w *world) open(endpoint string, hooks ...string) session.Conversation {
	w.t.Helper()
	c, err := session.Open(w.t.Context(), w.endpoint(endpoint), w.options(hooks))
	testkit.OK(w.t, err)
	w.t.Cleanup(func() { c.Close() })
	return c
}

func (w *world) start(c session.Conversation, kind dialect.OpKind, method, params string) dialect.Stream {
	w.t.Helper()
	return testkit.Start(w.t, c, kind, method, params)
}

func (w *world) call(c session.Conversation, method, params string) string {
	w.t.Helper()
	return testkit.Call(w.t, c, method, params)
}

func (w *world) next(st dialect.Stream) string {
	w.t.Helper()
	return testkit.Next(w.t, st)
}
