package hotrepl

import (
	"strings"
	"testing"

	"rpcx/wire/scan"
)

func TestCommands(t *testing.T) {
	host(t, backend{r: &engine{}}, func(_ *server, g guestOf) {
		call := func(id, name, args string) string {
			return `> {"type":"command_call","id":"` + id + `","name":"` + name + `","args":` + args + `}`
		}
		fails := func(id, e string) string {
			return `< {"type":"command_result","id":"` + id + `","status":"failed","artifacts":{},"error":` + e + `,"durationMs":0}`
		}
		g.play(
			call("a", "archive.preflight", "{}"),
			`< {"type":"command_result","id":"a","status":"ok","output":{"ok":true},"artifacts":{},"durationMs":0}`,
			call("b", "archive.preflite", "{}"),
			fails("b", `{"kind":"unknown_command","code":"unknownCommand","message":"There is no command \"archive.preflite\".","retryable":false,"details":{"nearest":"archive.preflight"}}`),
			`> {"type":"command_describe","id":"c","name":"x"}`,
			fails("c", `{"kind":"unknown_command","code":"unknownCommand","message":"There is no command \"x\".","retryable":false}`),
			call("d", "archive.preflight", `{"fail":"args"}`),
			fails("d", `{"kind":"validation_failed","code":"argsSchemaViolation","message":"invalid params","retryable":false,"details":{"pointer":"/x"}}`),
			call("e", "archive.preflight", `{"fail":"busy"}`),
			fails("e", `{"kind":"busy","code":"handlerException","message":"it failed","retryable":true,"details":{"retryable":true}}`),
			call("f", "archive.preflight", `{"fail":"own"}`),
			fails("f", `{"kind":"conflict","code":"sentRaw","message":"it failed","retryable":false}`),
			call("g", "archive.preflight", `{"fail":"refused"}`),
			fails("g", `{"kind":"precondition_failed","code":"refused","message":"refused","retryable":false}`),
			call("h", "archive.preflight", `{"fail":"plain"}`),
			fails("h", `{"kind":"internal","code":"handlerException","message":"The command failed.","retryable":false}`),
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
		start := func(id string) (job string) {
			g.play(`> {"type":"command_call","id":"` + id + `","name":"archive.export","args":{}}`)
			got := g.recv()
			job, _ = scan.Text(scan.Get([]byte(got), "jobId"))
			if want := `{"type":"job_accepted","id":"` + id + `","jobId":"` + job + `","state":"running"}`; got != want {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
			return job
		}
		job := start("a")
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
		second := start("d")
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

// The host responds to an invalid message, and the connection stays open.
func TestHostRefuses(t *testing.T) {
	host(t, backend{r: &engine{}, limits: `{"maxMessageBytes":200,"maxQueuedCommands":1}`}, func(_ *server, g guestOf) {
		refuses := func(id, kind, code, message string) string {
			if id != "" {
				id = `"id":"` + id + `",`
			}
			return `< {"type":"error",` + id + `"error":{"kind":"` + kind + `","code":"` + code + `","message":"` + message + `","retryable":false}}`
		}
		g.play(
			`> {"type":`, refuses("", "invalid_request", "malformedJson", "Could not parse the incoming JSON frame: not JSON: unexpected end of JSON at byte 8"),
		)
		g.play(
			`> {"id":"a"}`, refuses("", "invalid_request", "malformedJson", "Could not parse the incoming JSON frame: a hotrepl message must be an object with a type"),
			`> {"type":"ping","id":"a"}`, refuses("a", "unsupported_operation", "legacyMessageType", `The message type \"ping\" belongs to version 1 of the protocol.`),
			`> {"type":"odd","id":"a"}`, refuses("a", "invalid_request", "unknownMessageType", `Unknown message type \"odd\".`),
			`> {"type":"command_call","id":"a","name":"x","args":[]}`, refuses("a", "invalid_request", "invalidRequest", "The member args is missing or has the wrong type."),
			`> {"type":"eval","id":7,"code":"x"}`, refuses("", "invalid_request", "invalidRequest", "The id is not a string."),
			`> {"type":"eval","id":"a","code":"`+strings.Repeat("x", 200)+`"}`,
			refuses("", "invalid_request", "messageTooLarge", "The message has 234 bytes; the host accepts at most 200."),
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
	})
}

func TestNoRuntime(t *testing.T) {
	host(t, backend{}, func(_ *server, g guestOf) {
		g.play(`> {"type":"eval","id":"a","code":"1 + 1"}`,
			`< {"type":"eval_error","id":"a","error":{"kind":"unsupported_operation","code":"evaluatorMissing","message":"The host has no runtime to evaluate code.","retryable":false}}`,
			`> {"type":"complete","id":"c","code":"sl"}`, `< {"type":"complete_result","id":"c","completions":["slow"],"durationMs":0}`)
	})
}
