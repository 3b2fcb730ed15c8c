package hotrepl

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire/scan"
)

// The errors of hooks become errors of commands. The spoken conversation of a host has those of the host itself.
func TestCommands(t *testing.T) {
	host(t, backend{r: &engine{}}, func(_ *server, g guestOf) {
		call := func(id, name, args string) string {
			return `> {"type":"command_call","id":"` + id + `","name":"` + name + `","args":` + args + `}`
		}
		fails := func(id, e string) string {
			return `< {"type":"command_result","id":"` + id + `","status":"failed","artifacts":{},"error":` + e + `,"durationMs":0}`
		}
		g.play(
			call("f", "archive.preflight", `{"fail":"own"}`),
			fails("f", `{"kind":"conflict","code":"sentRaw","message":"it failed","retryable":false}`),
			call("g", "archive.preflight", `{"fail":"refused"}`),
			fails("g", `{"kind":"precondition_failed","code":"refused","message":"refused","retryable":false}`),
			call("h", "archive.preflight", `{"fail":"plain"}`),
			fails("h", `{"kind":"internal","code":"handlerException","message":"The command failed.","retryable":false}`),
			// A command can be cancelled before its frame.
			call("w", "slow", "{}"), `> {"type":"cancel","id":"x","targetId":"w"}`,
			fails("w", `{"kind":"cancelled","code":"commandCancelled","message":"The command was cancelled.","retryable":false}`),
			// A long command does not delay other requests, and can be cancelled.
			call("i", "slow", "{}"), `> {"type":"eval","id":"j","code":"1 + 1"}`,
			`< {"type":"eval_result","id":"j","hasValue":true,"value":2,"valueType":"number","durationMs":0}`,
			`> {"type":"cancel","id":"x","targetId":"i"}`,
			fails("i", `{"kind":"cancelled","code":"commandCancelled","message":"The command was cancelled.","retryable":false}`),
		)
	})
}

func TestJobs(t *testing.T) {
	host(t, backend{r: &engine{}}, func(s *server, g guestOf) {
		start := func(id, args string) (job string) {
			g.play(`> {"type":"command_call","id":"` + id + `","name":"archive.export","args":` + args + `}`)
			got := g.recv()
			job, _ = scan.Text(scan.Get([]byte(got), "jobId"))
			if want := `{"type":"job_accepted","id":"` + id + `","jobId":"` + job + `","state":"running"}`; got != want {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
			return job
		}
		job := start("a", "{}")
		status := `> {"type":"job_status","id":"s","jobId":"` + job + `"}`
		done := `< {"type":"job_result","id":"s","jobId":0,"state":"done","status":"ok","output":{"itemsExported":1500},"artifacts":{},"durationMs":0}`
		g.play(
			status, `< {"type":"job_status_result","id":"s","jobId":0,"state":"running","progress":{"message":"packing","fraction":0.5}}`,
			`> {"type":"command_call","id":"b","name":"archive.export","args":{}}`,
			`< {"type":"command_result","id":"b","status":"failed","artifacts":{},"error":{"kind":"busy","code":"jobConcurrencyLimit","message":"Too many jobs are running.","retryable":true},"durationMs":0}`,
			`= 1s`, status, done, status, done,
			`> {"type":"job_cancel","id":"c","jobId":"`+job+`"}`, `< {"type":"job_cancel_result","id":"c","accepted":false,"state":"done"}`,
			`> {"type":"job_status","id":"n","jobId":"never"}`,
			`< {"type":"error","id":"n","error":{"kind":"artifact_missing","code":"jobMissing","message":"There is no such job.","retryable":false}}`,
		)
		fails := start("f", `{"fail":"emitted"}`)
		g.play(
			`= 100ms`, `> {"type":"job_status","id":"s","jobId":"`+fails+`"}`,
			`< {"type":"job_result","id":"s","jobId":0,"state":"failed","status":"failed","artifacts":{},"error":{"kind":"internal","code":"handlerException","message":"it failed","retryable":false},"durationMs":0}`,
		)
		second := start("d", "{}")
		g.play(
			`> {"type":"job_cancel","id":"c","jobId":"`+second+`"}`, `< {"type":"job_cancel_result","id":"c","accepted":true,"state":"running"}`,
			`= 100ms`, `> {"type":"job_status","id":"s","jobId":"`+second+`"}`,
			`< {"type":"job_result","id":"s","jobId":0,"state":"cancelled","status":"failed","artifacts":{},"error":{"kind":"cancelled","code":"jobCancelled","message":"The job was cancelled.","retryable":false},"durationMs":0}`,
		)
		// A new client replaces the first and does not inherit its jobs.
		other := connect(g.t, s, g.j)
		other.play(shake, status,
			`< {"type":"command_result","id":"s","status":"failed","artifacts":{},"error":{"kind":"conflict","code":"jobNotOwnedByConnection","message":"The job was started on another connection.","retryable":false},"durationMs":0}`)
		g.play(`< {"type":"session_evicted","reason":"new_connection"}`)
		if got := g.recv(); !strings.HasPrefix(got, "end: ") {
			t.Errorf("got %s", got)
		}
		other.c.Close()
	})
}

// The host forgets the job that ended first, and the oldest entry of a kind.
func TestHostForgets(t *testing.T) {
	s := &server{jobs: map[string]*job{"0": {}}}
	for i := 1; i < maxJobs; i++ {
		s.jobs[strconv.Itoa(i)] = &job{state: "done", ended: time.Unix(int64(i), 0)}
	}
	s.forgetJobs()
	s.forgetJobs()
	if s.jobs["0"] == nil || s.jobs["1"] != nil || len(s.jobs) != maxJobs-1 {
		t.Errorf("%d jobs", len(s.jobs))
	}
	for i := range maxJournal + 2 {
		s.journal.add(entry{kind: []string{"eval", "command"}[min(i, 1)], name: strconv.Itoa(i)})
	}
	if e := s.journal.entries; len(e) != maxJournal+1 || e[0].name != "0" || e[1].name != "2" {
		t.Errorf("%d entries", len(e))
	}
}

// Artifacts are the regular files in a directory that is named after the command. A command fails if rpcx cannot create or
// read the directory.
func TestArtifacts(t *testing.T) {
	host(t, backend{r: &engine{}}, func(s *server, g guestOf) {
		g.play(`> {"type":"command_call","id":"/` + strings.Repeat("i", 50) + `","name":"archive.preflight","args":{"write":"x.own"}}`)
		want := regexp.MustCompile(`"artifacts":\{"x.own":\{"uri":"file://[^"]*","path":"[^"]*[/\\]a-i{40}-[0-9]+[/\\]x.own","sha256":"[0-9a-f]{64}","byteSize":2,"contentType":"application/octet-stream","finalized":true\}\},`)
		if got := g.recv(); !want.MatchString(got) {
			t.Error(got)
		}
		t.Setenv("TMPDIR", "/none")
		t.Setenv("TMP", `N:\none`)
		for dir, want := range map[string]string{
			"":          `"code":"artifactFolder","message":"The directory for artifacts could not be created.`,
			"/none":     `"code":"artifactFolder","message":"The directory for artifacts could not be created.`,
			s.files.dir: `"code":"artifactUnreadable","message":"An artifact could not be read.`,
		} {
			s.files.dir = dir
			g.play(`> {"type":"command_call","id":"a","name":"archive.preflight","args":{"fail":"directory"}}`,
				`< {"type":"command_result","id":"a","status":"failed","artifacts":{},"error":{"kind":"internal",`+want+`","retryable":false},"durationMs":0}`)
		}
	})
}

// The host responds to a message over its limits, and the connection stays open.
func TestHostRefuses(t *testing.T) {
	host(t, backend{r: &engine{}, limits: `{"maxMessageBytes":200,"maxQueuedCommands":1}`}, func(_ *server, g guestOf) {
		g.play(
			`> {"type":"eval","id":"a","code":"`+strings.Repeat("x", 200)+`"}`,
			`< {"type":"error","error":{"kind":"invalid_request","code":"messageTooLarge","message":"The message has 234 bytes; the host accepts at most 200.","retryable":false}}`,
			`> {"type":"eval","id":"a","code":"wait"}`, `= 20ms`, `> {"type":"reset","id":"b"}`,
			`< {"type":"error","id":"b","error":{"kind":"busy","code":"commandQueueFull","message":"Too many messages are waiting for a frame.","retryable":true}}`,
			`> {"type":"cancel","id":"c","targetId":"a"}`,
			`< {"type":"eval_error","id":"a","error":{"kind":"cancelled","code":"evalCancelled","message":"Eval was cancelled.","retryable":false}}`,
		)
	})
}

// A result over the message limit is a failure.
func TestResultTooLarge(t *testing.T) {
	host(t, backend{r: &engine{}, limits: `{"maxResultLength":5,"maxEnumerableElements":2}`}, func(_ *server, g guestOf) {
		g.play(
			`> {"type":"command_call","id":"a","name":"archive.preflight","args":{}}`,
			`< {"type":"command_result","id":"a","status":"failed","artifacts":{},"error":{"kind":"internal","code":"resultTooLarge","message":"The output has 11 bytes, which exceeds the limit.","retryable":false},"durationMs":0}`,
			`> {"type":"eval","id":"b","code":"many"}`,
			`< {"type":"eval_result","id":"b","hasValue":true,"value":[1,1],"valueType":"array","durationMs":0}`,
			`> {"type":"command_call","id":"c","name":"archive.export","args":{}}`,
			`< {"type":"job_accepted","id":"c","jobId":0,"state":"running"}`, `= 2s`,
			`> {"type":"journal_query","id":"q","limit":1}`,
			`< {"type":"journal_query_result","id":"q","entries":[{"id":"c","kind":"command","name":"archive.export","success":false,"durationMs":0,"errorKind":"internal","timestamp":0}]}`,
		)
	})
}

func TestReload(t *testing.T) {
	r := &engine{}
	host(t, backend{r: r}, func(s *server, g guestOf) {
		s.Reload()
		g.play(`< {"type":"assembly_reload","assembly":"BepInEx","message":"Hot-reload detected. REPL session reset."}`)
		if r.forgot != 1 {
			t.Error("the state was not removed")
		}
		_ = s.Close()
		s.Reload()
		if synctest.Wait(); r.forgot != 1 {
			t.Error("a closed host was reloaded")
		}
	})
}

func TestNoRuntime(t *testing.T) {
	host(t, backend{}, func(_ *server, g guestOf) {
		g.play(`> {"type":"eval","id":"a","code":"1 + 1"}`,
			`< {"type":"eval_error","id":"a","error":{"kind":"unsupported_operation","code":"evaluatorMissing","message":"The host has no runtime to evaluate code.","retryable":false}}`,
			`> {"type":"complete","id":"c","code":"sl"}`, `< {"type":"complete_result","id":"c","completions":["slow"],"durationMs":0}`)
	})
}
