package a2a

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/server"
)

type caller struct{ dialect.Caller }

func (caller) Connection() *dialect.Connection { return &dialect.Connection{Identity: "me"} }

// Files are in each place that the specification has for parts.
func TestFiles(t *testing.T) {
	for _, result := range []string{
		`{"artifactUpdate":{"artifact":PARTS}}`, `{"statusUpdate":{"status":{"message":PARTS}}}`, `{"message":PARTS}`, `{"status":{"message":PARTS}}`,
		`{"task":{"status":{"message":PARTS}}}`, `{"task":{"artifacts":[PARTS]}}`, `{"artifacts":[PARTS]}`,
	} {
		result = strings.Replace(result, "PARTS", `{"parts":[{"text":"t"},{"raw":"AAAA","filename":"f","mediaType":"image/png"}]}`, 1)
		for _, raw := range []string{result, `{"result":` + result + `}`} {
			if found := files([]byte(raw)); len(found) != 1 || found[0].Name != "f" || found[0].Type != "image/png" || string(found[0].Base64) != `"AAAA"` {
				t.Errorf("%s: %+v", raw, found)
			}
		}
	}
}

// A call is not a job operation.
func TestUnsupportedJobOperation(t *testing.T) {
	if _, err := new(client).Job(t.Context(), caller{}, dialect.Op{Kind: dialect.Call}); err != wire.ErrUnsupported {
		t.Error(err)
	}
}

type responder struct{ dialect.Responder }

func (responder) Kind(string) (catalog.Kind, bool) { return "", true }

func (responder) Respond(ctx context.Context, _ dialect.Request) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (responder) Close() error { return nil }

type backend struct{ dialect.Backend }

func (backend) Bind(dialect.Caller) dialect.Responder { return responder{} }

// The agent forgets the oldest task that has ended when it has too many tasks, or too large ones. It accepts no task beyond the
// maximum number.
func TestTasksAreBounded(t *testing.T) {
	a := &agent{host: server.Host{Backend: backend{}}}
	stored := func(state string, bytes int) *task {
		k := &task{agent: a, state: state}
		k.addBytes(bytes)
		if !a.add(k) {
			return nil
		}
		return k
	}
	first := stored(working, maxBytes/4)
	second := stored(completed, maxBytes/4)
	third := stored(completed, 1)
	if third == nil || !slices.Equal(a.list, []*task{first, third}) || a.bytes.Load() != maxBytes/4+1 {
		t.Errorf("%d tasks of %d bytes after the first large ones", len(a.list), a.bytes.Load())
	}
	if stored(working, maxBytes/2) == nil || slices.Contains(a.list, second) || slices.Contains(a.list, third) {
		t.Error("a task that is too large for the others is stored, and the ended ones are removed")
	}
	for len(a.list) < maxTasks {
		if stored(working, 0) == nil {
			t.Fatal("no room for task ", len(a.list))
		}
	}
	if stored(working, 0) != nil {
		t.Error("more tasks than the maximum are stored")
	}
	a.bytes.Store(0)
	a.list[7].state = failed
	if seventh := a.list[7]; stored(working, 0) == nil || len(a.list) != maxTasks || slices.Contains(a.list, seventh) {
		t.Error("a task that has ended makes no room")
	}
	begun := &task{agent: a, state: inputRequired}
	if _, err := begun.run(json.RawMessage(`{"messageId":"m"}`)); err != nil || a.bytes.Load() < int64(len(`{"messageId":"m"}`+string(begun.events[0]))) {
		t.Errorf("a message and its event have %d bytes, %v", a.bytes.Load(), err)
	}
	a.list = append(a.list, begun)
	_ = a.end()
	if begun.state != canceled {
		t.Errorf("after the end of the agent, a task is %s", begun.state)
	}
	s := &served{agent: a, conn: server.Conn{Caller: caller{}, Responder: responder{}}}
	if _, _, err := s.begin(json.RawMessage("{}")); err == nil {
		t.Error("a message begins a task without room")
	}
	for _, test := range []struct {
		task, all, output int
		fits              bool
	}{{0, 0, 1000, true}, {maxTaskBytes - 1000, 0, 1000, false}, {0, maxBytes - 1000, 1000, false}, {0, maxBytes - 2000, 1000, true}} {
		a.bytes.Store(int64(test.all))
		k := &task{agent: a, state: working, bytes: test.task}
		if err := k.put(&artifact{}, make(json.RawMessage, test.output)); (err == nil) != test.fits {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// ListTasks returns the task that was changed last first, of the caller's tasks only.
func TestOrderOfTasks(t *testing.T) {
	a := &agent{}
	for i, at := range []string{"2", "3", "1", "3"} {
		a.add(&task{id: string(rune('a' + i)), at: at, client: []string{"me", "me", "me", "other"}[i]})
	}
	s := &served{agent: a, conn: server.Conn{Caller: caller{}}}
	for after, want := range map[string]string{"": "bac", "2": "ba"} {
		got := ""
		for _, k := range s.matching(json.RawMessage(`{"statusTimestampAfter":"` + after + `"}`)) {
			got += k.id
		}
		if got != want {
			t.Errorf("after %q: %s, want %s", after, got, want)
		}
	}
	if _, err := s.task("d"); err == nil {
		t.Error("another client's task is found")
	}
}

// A request ends when its client disconnects.
func TestDisconnectedClients(t *testing.T) {
	a := &agent{host: server.Host{Backend: backend{}}}
	s := &served{agent: a, conn: server.Conn{Caller: caller{}, Responder: responder{}}}
	a.add(&task{agent: a, id: "t", client: "me", state: working, cancelRun: func() {}})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, answer := range map[string]method{"send": (*served).send, "subscribe": (*served).subscribe, "cancelTask": (*served).cancelTask} {
		in := &dialect.Inbound{Msg: wire.Message{Params: json.RawMessage(`{"id":"t","message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]}}`)}}
		in.Emit = func(wire.Event) error { return nil }
		if _, err := answer(s, gone, in); err != context.Canceled {
			t.Errorf("%s: %v", name, err)
		}
	}
	unwritable := &dialect.Inbound{Emit: func(wire.Event) error { return io.ErrClosedPipe }}
	if _, err := s.follow(t.Context(), unwritable, a.list[0], -1); err != io.ErrClosedPipe {
		t.Errorf("a stream that cannot be written: %v", err)
	}
	a.list[0].cancelled = false
	if _ = a.list[0].CloseWith(1000, ""); !a.list[0].cancelled {
		t.Error("a hook that closes the connection does not cancel its task")
	}
	_ = a.end()
}
