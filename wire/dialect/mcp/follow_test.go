package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A taskServer answers requests about a task in order, and records when they arrive.
type taskServer struct {
	dialect.Caller
	begun time.Time
	asked []string         // METHOD@TIME
	says  []string         // responses to tasks/get
	fault map[string]error // errors by method
}

func (s *taskServer) Open(_ context.Context, op dialect.Op) (dialect.Stream, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s@%v", strings.TrimPrefix(op.Method, "tasks/"), time.Since(s.begun)))
	if err := s.fault[op.Method]; err != nil {
		return nil, err
	}
	body := `{"content":"done"}`
	if op.Method == taskGet {
		body, s.says = s.says[0], s.says[1:]
	}
	return &once{m: wire.Message{Kind: wire.Response, Body: json.RawMessage(body)}}, nil
}

// once is a stream of one message, and the Caller that returns it.
type once struct {
	dialect.Caller
	m               wire.Message
	over, cancelled bool
}

func (o *once) Open(context.Context, dialect.Op) (dialect.Stream, error) { return o, nil }

func (o *once) Next(context.Context) (wire.Message, error) {
	if o.over {
		return wire.Message{}, io.EOF
	}
	o.over = true
	return o.m, nil
}

func (o *once) Cancel(context.Context) error {
	o.cancelled = true
	return nil
}

// follow returns the stream of task "t" on s, without notifications.
func follow(t *testing.T, s *taskServer) *following {
	t.Helper()
	p, err := load.Parse("x.toml", []byte("name = 'x'\nflow = 'mcp'\n"))
	testkit.OK(t, err)
	d, err := codec.New(p, codec.Native{Open: Flow().Client})
	testkit.OK(t, err)
	f := d.NewCodec(dialect.CodecOptions{}).(*codec.Codec).Flow().(*client)
	st := f.following(s, dialect.Op{}, json.RawMessage(`"t"`))
	st.OnReport = st.onReport
	st.Track()
	return st
}

// rpcx polls a task at the server's interval, within bounds, or at growing intervals, and reports each change once.
func TestATaskIsPolled(t *testing.T) {
	working := func(more string) string { return `{"taskId":"t","status":"working"` + more + `}` }
	const done = `{"taskId":"t","status":"completed"}`
	for _, c := range []struct {
		says []string
		want string // the requests with their times
		told string
	}{
		{[]string{done}, "get@50ms result@50ms", ""},
		{[]string{working(""), working(""), working(""), working(""), working(""), working(""), done}, "get@50ms get@150ms get@350ms get@750ms get@1.55s get@2.55s get@3.55s result@3.55s", ""},
		{[]string{working(`,"pollInterval":200`), working(""), done}, "get@50ms get@250ms get@450ms result@450ms", ""},
		{[]string{working(`,"pollInterval":1`), working(""), done}, "get@50ms get@60ms get@70ms result@70ms", ""},
		{[]string{working(`,"pollInterval":0`), working(`,"pollInterval":-5`), working(`,"pollInterval":"x"`), done}, "get@50ms get@150ms get@350ms get@750ms result@750ms", ""},
		{[]string{working(`,"pollInterval":29999`), done}, "get@50ms get@30.049s result@30.049s", ""},
		{[]string{working(`,"pollInterval":30000`), done}, "get@50ms get@30.05s result@30.05s", ""},
		{[]string{working(`,"pollInterval":1e300`), done}, "get@50ms get@30.05s result@30.05s", ""},
		{[]string{working(`,"statusMessage":"a"`), working(`,"statusMessage":"a"`), working(`,"statusMessage":"b"`), working(""), done}, "get@50ms get@150ms get@350ms get@750ms get@1.55s result@1.55s", "a b"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &taskServer{begun: time.Now(), says: c.says}
			st := follow(t, s)
			var told []string
			var last wire.Message
			for {
				m, err := st.Next(t.Context())
				if err == io.EOF {
					break
				}
				testkit.OK(t, err)
				if last = m; m.Event.Kind == wire.Progress {
					told = append(told, m.Event.Message)
				}
			}
			if got := strings.Join(s.asked, " "); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.says, got, c.want)
			}
			if got := strings.Join(told, " "); got != c.told || !last.Final || string(last.Event.Data) != `{"content":"done"}` {
				t.Errorf("%s: reported %s, last %+v", c.says, got, last)
			}
		})
	}
}

// A server error ends the stream with an event. A connection error is returned. Cancelling ends the wait.
func TestATaskThatCannotBePolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the connection is gone")
		for _, c := range []struct {
			fault map[string]error
			said  string
			want  string
		}{
			{map[string]error{taskGet: wire.NewError(-32602, "no task")}, ``, "no task; EOF"},
			{map[string]error{taskGet: gone}, ``, "gone"},
			{map[string]error{taskResult: gone}, `{"taskId":"t","status":"completed"}`, "gone"},
			{nil, `{"taskId":"t"}`, "the server sent a task without a status"},
			{nil, `{"taskId":"t","status":"failed","statusMessage":"it broke"}`, "it broke; EOF"},
			{nil, `{"taskId":"t","status":"failed"}`, "the task has failed; EOF"},
			{nil, `{"taskId":"t","status":"cancelled"}`, "the task was cancelled; EOF"},
		} {
			st := follow(t, &taskServer{says: []string{c.said}, fault: c.fault})
			m, err := st.Next(t.Context())
			var got string
			switch {
			case err != nil:
				got = err.Error()
			case m.Event == nil || m.Event.Kind != wire.Failure || !m.Final:
				t.Errorf("%+v", m)
			default:
				_, err = st.Next(t.Context())
				got = m.Event.Err.Message + "; " + err.Error()
			}
			if !strings.HasSuffix(got, c.want) {
				t.Errorf("%v %s: %s, want %s", c.fault, c.said, got, c.want)
			}
		}
		st := follow(t, &taskServer{fault: map[string]error{taskStatus: gone}})
		if _, err := st.client.Job(t.Context(), st.caller, dialect.Op{Kind: dialect.JobWait}); err != gone {
			t.Errorf("%v", err)
		}
		if _, err := st.client.Job(t.Context(), st.caller, dialect.Op{Kind: dialect.Call}); err != wire.ErrUnsupported {
			t.Errorf("a call is not a job operation: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := st.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		r := &resultStream{reports: &once{over: true}, arrived: context.Background()}
		ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := r.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || r.reports != nil {
			t.Errorf("a result that does not arrive after the reports end: %v", err)
		}
		o := &once{over: true}
		r, _ = openResult(t.Context(), o, nil, nil)
		if _, err := r.Next(t.Context()); err != io.EOF || !o.cancelled {
			t.Errorf("a call without a result: %v, cancelled: %t", err, o.cancelled)
		}
	})
}

// When the reader stops, rpcx cancels a task that it started, if it is running and the server supports cancelling.
func TestATaskIsCancelled(t *testing.T) {
	gone := errors.New("the connection is gone")
	for _, c := range []struct {
		name   string
		ours   bool
		status string
		can    bool
		fault  error
		want   string
	}{
		{"ours", true, "working", true, nil, "cancel@0s <nil>"},
		{"begun by others", false, "working", true, nil, " <nil>"},
		{"over", true, "completed", true, nil, "result@0s <nil>"},
		{"its result has come", true, "", true, nil, " <nil>"},
		{"a server that cannot", true, "working", false, nil, " <nil>"},
		{"over by now", true, "working", true, wire.NewError(-32602, "it is over"), "cancel@0s <nil>"},
		{"no connection", true, "working", true, gone, "cancel@0s " + gone.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &taskServer{begun: time.Now(), fault: map[string]error{taskCancel: c.fault}}
			st := follow(t, s)
			st.client.SetRunning(st.task, true)
			if c.can {
				st.client.c.Keep(json.RawMessage(`{"capabilities":{"tasks":{"cancel":{}}}}`))
			}
			if c.ours {
				st.CancelWork = st.cancelWork
			}
			if c.status == "" {
				st.Finish(t.Context(), wire.Message{})
			} else if err := st.Update(t.Context(), json.RawMessage(`{"status":"`+c.status+`"}`)); err != nil {
				t.Fatal(err)
			}
			err := st.Cancel(t.Context())
			if got := fmt.Sprintf("%s %v", strings.Join(s.asked, " "), err); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
			if err := st.Cancel(t.Context()); err != nil || len(s.asked) > 1 {
				t.Errorf("%s: again: %v, %s", c.name, err, s.asked)
			}
			if jobs := st.client.RunningJobs(); c.ours && len(jobs) > 0 {
				t.Errorf("%s: still running: %s", c.name, jobs)
			}
		})
	}
}

// The oldest task that has ended makes room for a new one. The list has pages.
func TestStoredTasks(t *testing.T) {
	a := &tasks{}
	stored := func(status string) *task {
		k := newTask(a, nil, nil, func() {})
		k.status = status
		a.add(k)
		return k
	}
	first, second := stored("working"), stored("completed")
	for len(a.list) < maxTasks {
		stored("working")
	}
	if third := a.list[2]; stored("working") == nil || len(a.list) != maxTasks || a.list[0] != first || a.list[1] != third {
		t.Errorf("%d tasks, with %v", len(a.list), a.indexLocked(second.id))
	}
	first.status = "failed"
	if stored("working"); len(a.list) != maxTasks || a.list[0] == first {
		t.Error("the first task has ended and was not removed")
	}
	if stored("working"); len(a.list) != maxTasks+1 {
		t.Error("a running task was removed")
	}
	a.list = a.list[:listPage+1]
	page, err := a.lines(nil)
	next := scan.String(scan.Get(page, "nextCursor"))
	if n := len(scan.List(scan.Get(page, "tasks"))); err != nil || n != listPage || next != a.list[listPage-1].id {
		t.Errorf("the first page has %d tasks, next %q, %v", n, next, err)
	}
	page, err = a.lines(scan.Pair("cursor", scan.AppendQuoted(nil, next)))
	if n := len(scan.List(scan.Get(page, "tasks"))); err != nil || n != 1 || scan.Get(page, "nextCursor") != nil {
		t.Errorf("the second page: %s, %v", page, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.list[0].wait(gone); err != context.Canceled {
		t.Error("a wait that was cancelled: ", err)
	}
}

// Only a server of versions with and without a handshake serves all versions.
func TestServesAll(t *testing.T) {
	for body, want := range map[string]bool{`["2025-11-25","2026-07-28"]`: true, `["2026-07-28"]`: false, `["2025-11-25"]`: false, ``: false} {
		open := func(context.Context, dialect.Op) (dialect.Stream, error) {
			if body == "" {
				return nil, io.ErrClosedPipe
			}
			return &once{m: wire.Message{Body: json.RawMessage(`{"supportedVersions":` + body + `}`)}}, nil
		}
		if got := servesAll(t.Context(), open); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	if servesAll(t.Context(), func(context.Context, dialect.Op) (dialect.Stream, error) { return &once{over: true}, nil }) {
		t.Error("a server that does not answer")
	}
}

// A header repeats strings, booleans and numbers, those without a fraction as integers.
func TestHeaderText(t *testing.T) {
	for val, want := range map[string]string{`"é"`: "é", `true`: "true", `false`: "false", `12.0`: "12", `1e3`: "1000", `1.5`: "1.5", `7`: "7", `null`: "", `{}`: ""} {
		if got, ok := headerText(json.RawMessage(val)); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", val, got, ok)
		}
	}
}

// A call may be repeated if it is not a tool's.
func TestModernCalls(t *testing.T) {
	s := &taskServer{}
	f := follow(t, s).client
	for method, want := range map[string]bool{"resources/read": true, "tools/call": false} {
		if f.mayRepeat(t.Context(), s, dialect.Op{Method: method, Params: json.RawMessage(`{"name":"x"}`)}) != want {
			t.Errorf("%s may be repeated: %v", method, !want)
		}
	}
}

// A request from the hook changes the status of a running task, and when the task was last updated.
func TestTaskAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		task := newTask(&tasks{}, nil, nil, func() {})
		state := func() string { return fmt.Sprintf("%s %v", task.status, task.changed.Sub(task.begun)) }
		for _, c := range []struct {
			more int
			want string
		}{{1, "input_required 1s"}, {1, "input_required 2s"}, {-1, "input_required 3s"}, {-1, "working 4s"}} {
			time.Sleep(time.Second)
			task.asking(c.more)
			testkit.Expect(t, "the task", state(), c.want)
		}
		task.end(nil, nil)
		time.Sleep(time.Second)
		task.asking(-1)
		testkit.Expect(t, "the task that has ended", state(), "completed 4s")
	})
}
