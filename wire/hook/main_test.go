package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a ConnectionHooks that records warnings and failures.
type world struct {
	*ConnectionHooks
	t      *testing.T
	table  *Table
	dir    string // the directory for the test's files; $T in a hook
	stderr lockedBuffer

	mu       sync.Mutex
	warnings []string
	failed   []string
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWorld(t *testing.T, o Options, b Binding, specs ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	var entries []Entry
	for _, s := range specs {
		e, err := Parse(strings.ReplaceAll(s, "$T", w.dir))
		if err != nil {
			t.Fatalf("Parse(%q): %v", s, err)
		}
		entries = append(entries, e)
	}
	o.Stderr = &w.stderr
	o.Warn = func(line string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.warnings = append(w.warnings, line)
	}
	o.OnFailure = func(method string, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Helper || f.Method != method {
			t.Errorf("OnFailure(%q, %#v)", method, err)
		}
		w.failed = append(w.failed, err.Error())
	}
	var err error
	w.table, err = NewTable(o, entries...)
	testkit.OK(t, err)
	w.ConnectionHooks = w.table.Bind(b)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return w
}

// call calls method and returns the result, or the error as JSON.
func (w *world) call(method, params string) string {
	w.t.Helper()
	return w.ask(w.t.Context(), dialect.Request{Method: method, Params: raw(params), ID: wire.ID("1")})
}

func (w *world) ask(ctx context.Context, r dialect.Request) string {
	w.t.Helper()
	out, err := w.Answer(ctx, r)
	return text(out, err)
}

func text(out json.RawMessage, err error) string {
	var e *wire.Error
	switch {
	case errors.As(err, &e):
		return "error " + string(e.JSON())
	case err != nil:
		return "failed: " + err.Error()
	}
	return string(out)
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// stream calls method as a stream and returns its events.
func (w *world) stream(method, params string) ([]string, string) {
	w.t.Helper()
	var events []string
	_, err := w.Answer(w.t.Context(), dialect.Request{
		Method: method, Params: raw(params), ID: wire.ID("1"), Stream: true,
		Emit: func(e wire.Event) error {
			events = append(events, string(e.AppendJSON(nil)))
			return nil
		},
	})
	if err != nil {
		return events, text(nil, err)
	}
	return events, ""
}

func (w *world) warned() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.warnings, "\n")
}

func (w *world) failures() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.failed, "\n")
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, content string) {
	w.t.Helper()
	testkit.OK(w.t, os.WriteFile(w.path(name), []byte(content), 0o600))
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	testkit.OK(w.t, err)
	return string(b)
}

func (w *world) exists(name string) bool {
	_, err := os.Stat(w.path(name))
	return err == nil
}

// written reports whether a file contains a whole line. Hooks create the file before they write the line.
func (w *world) written(name string) bool {
	b, _ := os.ReadFile(w.path(name))
	return strings.HasSuffix(string(b), "\n")
}

// pidGone waits until the process whose id is in a file has ended.
func (w *world) pidGone(name string) { testkit.ProcessGone(w.t, filepath.Join(w.dir, name)) }
