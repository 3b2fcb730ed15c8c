package ro

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// TestJobs checks that a job continues without a reader, and that whoever waits for it gets later events, the last result and the
// end of the connection.
func TestJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		p := peer.New(near, NewCodec(dialect.CodecOptions{}), peer.Options{})
		defer p.Close()
		do := func(kind dialect.OpKind, method, job string) dialect.Stream {
			t.Helper()
			st, err := p.Connection().Codec.Abilities().Job(t.Context(), p, dialect.Op{Kind: kind, Method: method, Job: job})
			testkit.OK(t, err)
			return st
		}
		next := func(st dialect.Stream, want string) {
			t.Helper()
			m, err := st.Next(t.Context())
			got := string(m.Body)
			if err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		send := func(format string, args ...any) {
			t.Helper()
			testkit.OK(t, far.Send(fmt.Appendf(nil, format, args...)))
			synctest.Wait()
		}
		start := func(id int) {
			t.Helper()
			go func() {
				_, _ = far.Recv()
				_ = far.Send(fmt.Appendf(nil, `{"id":%d,"result":{"status":"accepted","job":"job-%d"}}`, id, id))
			}()
			next(do(dialect.JobStart, "attachment:create", ""), fmt.Sprintf(`{"job":"job-%d","status":"accepted","method":"attachment.create","result":{"status":"accepted","job":"job-%d"}}`, id, id))
		}
		start(1)
		one, two := do(dialect.JobWait, "", "job-1"), do(dialect.JobWait, "", "job-1")
		next(one, `{"status":"accepted","job":"job-1"}`)
		next(two, `{"status":"accepted","job":"job-1"}`)
		send(`{"method":"job.yield","resource":"job","verb":"yield","target":"job-1","result":{"n":1}}`)
		send(`{"method":"job.yield","resource":"job","verb":"yield","target":"job-1","result":{"n":2}}`)
		next(do(dialect.JobStatus, "", "job-1"), `{"job":"job-1","status":"pending","method":"attachment.create","result":{"n":2}}`)
		next(one, `{"n":1}`)
		next(one, `{"n":2}`)
		next(two, `{"n":1}`)
		if err := two.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		send(`{"method":"job.return","resource":"job","verb":"return","target":"job-1","result":{"n":3}}`)
		next(one, `{"n":3}`)
		next(one, io.EOF.Error())
		if err := one.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		late := do(dialect.JobWait, "", "job-1")
		next(late, `{"n":3}`)
		next(late, io.EOF.Error())
		_ = late.Cancel(t.Context())

		start(2)
		lost := do(dialect.JobWait, "", "job-2")
		next(lost, `{"status":"accepted","job":"job-2"}`)
		// The user's call became a job that only the user reads.
		call, err := p.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "attachment:create"})
		testkit.OK(t, err)
		if _, err := far.Recv(); err != nil {
			t.Fatal(err)
		}
		send(`{"id":3,"result":{"status":"accepted","job":"job-3"}}`)
		next(call, `{"status":"accepted","job":"job-3"}`)
		unread := do(dialect.JobWait, "", "job-3")
		next(unread, `{"status":"accepted","job":"job-3"}`)
		far.Close()
		synctest.Wait()
		if _, err := unread.Next(t.Context()); wire.AsFault(err) == nil || wire.AsFault(err).Kind != wire.Closed {
			t.Errorf("an unread call ended with %v", err)
		}
		next(do(dialect.JobStatus, "", "job-2"), `{"job":"job-2","status":"error","method":"attachment.create","result":{"status":"accepted","job":"job-2"},"error":{"code":-32000,"message":"connection closed, in the middle of the stream of \"attachment:create\""}}`)
		if _, err := lost.Next(t.Context()); wire.AsFault(err) == nil || wire.AsFault(err).Kind != wire.Closed {
			t.Errorf("the call ended with %v", err)
		}
		if _, err := p.Connection().Codec.Abilities().Job(t.Context(), p, dialect.Op{Kind: dialect.JobCancel, Job: "job-2"}); wire.AsFault(err) == nil {
			t.Error("a job was cancelled")
		}
	})
}

// The number of remembered jobs is bounded. Finished jobs are forgotten first.
func TestJobsAreForgotten(t *testing.T) {
	var j jobs
	note := func(id string, final bool) {
		j.note(id, "job-"+id, "m", &wire.Message{Body: []byte(`{}`), Final: final})
	}
	note("open", false)
	note("over", true)
	for i := range maxJobs {
		note(fmt.Sprint(i), false)
	}
	if len(j.list) != maxJobs {
		t.Errorf("%d jobs are stored", len(j.list))
	}
	if _, err := j.named("job-over"); err == nil {
		t.Error("an ended job was not removed before a running one")
	}
	if _, err := j.named(fmt.Sprintf("job-%d", maxJobs-1)); err != nil {
		t.Error(err)
	}
}

// The end of the reports is not the end of the job, and must not count as success.
func TestTheEndOfAStreamIsNoResult(t *testing.T) {
	var j jobs
	j.add(&job{id: "1", name: "a"})
	w := j.wait("1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.wait("none").Next(ctx); err != context.Canceled {
		t.Error(err)
	}
	j.lose("1", io.EOF)
	for _, w := range []*waiter{w, j.wait("1")} {
		for range 2 {
			m, err := w.Next(t.Context())
			if m.Raw == nil && m.Kind == 0 && err == nil {
				continue
			}
			if f := wire.AsFault(err); f == nil || f.Kind != wire.Closed {
				t.Errorf("got %v, %v", m, err)
			}
			break
		}
	}
}
