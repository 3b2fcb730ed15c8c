package hotrepl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A backend answers archive.preflight with {"ok":true} or, depending on the argument, with an error or an artifact. slow and
// archive.export take a second.
type backend struct {
	r      *engine
	limits string
	dir    string
}

func (b backend) Catalog() *catalog.Catalog {
	extra := json.RawMessage(`{"majorVersion":1}`)
	c := &catalog.Catalog{Info: catalog.Info{Name: "BepInEx", Version: "0.x"}, Methods: []catalog.Method{
		{
			Name: "archive.preflight", Extra: json.RawMessage(`{"majorVersion":1,"artifactsSchema":{"type":"object"}}`),
			Params: json.RawMessage(`{"type":"object","properties":{}}`), Result: json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}}}`),
		},
		{Name: "archive.export", Kind: catalog.Job, Extra: json.RawMessage(`{"majorVersion":1,"mutatesState":true}`)},
		{Name: "slow", Extra: extra},
	}}
	if b.limits != "" {
		c.Extra = json.RawMessage(`{"limits":` + b.limits + `}`)
	}
	return c
}
func (b backend) Bind(dialect.Caller) dialect.Responder { return responder{} }

func (b backend) Host() dialect.Host {
	h := dialect.Host{HostOptions: dialect.HostOptions{Artifacts: b.dir}}
	if b.r != nil {
		h.Runtime = b.r
	}
	return h
}

type responder struct{ testkit.Unrestricted }

func (responder) Close() error { return nil }

func (responder) Kind(name string) (catalog.Kind, bool) {
	return catalog.Call, name == "archive.preflight" || name == "archive.export" || name == "slow"
}

func (responder) Respond(ctx context.Context, q dialect.Request) (json.RawMessage, error) {
	if code, ok := scan.Text(scan.Get(q.Params, "fail")); ok {
		e := wire.NewError(wire.CodeServer, "it failed")
		switch code {
		case "path":
			return nil, wire.NewError(wire.CodeInvalidParams, "invalid params").WithData(map[string]string{"path": "/scene"})
		case "own":
			e.Raw = json.RawMessage(`{"code":"sentRaw","message":"it failed","kind":"conflict"}`)
			e.Code = json.RawMessage(`"sentRaw"`)
		case "refused":
			return nil, wire.NewError(wire.CodeRefused, "refused")
		case "plain":
			return nil, errors.New("secret")
		case "emitted":
			return nil, q.Emit(wire.Event{Kind: wire.Failure, Err: e})
		case "directory":
			return nil, os.RemoveAll(q.Vars["RPCX_ARTIFACTS"])
		}
		return nil, e
	}
	if name, ok := scan.Text(scan.Get(q.Params, "write")); ok {
		if err := os.WriteFile(filepath.Join(q.Vars["RPCX_ARTIFACTS"], name), []byte("[]"), 0o600); err != nil {
			return nil, err
		}
		if err := os.Mkdir(filepath.Join(q.Vars["RPCX_ARTIFACTS"], "a.d"), 0o700); err != nil {
			return nil, err
		}
	}
	if q.Method == "archive.preflight" {
		return json.RawMessage(`{"ok":true}`), nil
	}
	if q.Emit != nil && q.Stream {
		q.Emit(wire.Event{Kind: wire.Progress, Message: "packing", Fraction: json.RawMessage("0.5")})
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if q.Stream {
		return nil, q.Emit(wire.Event{Kind: wire.Data, Data: json.RawMessage(`{"itemsExported":1500}`)})
	}
	return json.RawMessage("true"), nil
}

type engine struct{ n, forgot int }

func (r *engine) About() map[string]string {
	return map[string]string{"engine": "Mono.CSharp", "language": "7.x"}
}
func (r *engine) Close() error          { return nil }
func (r *engine) Forget(string)         { r.n = 0; r.forgot++ }
func (r *engine) Completions() []string { return []string{"productName", "productVersion", "map"} }

func (r *engine) Eval(ctx context.Context, e dialect.Code) (json.RawMessage, error) {
	switch e.Code {
	case "1 + 1":
		return json.RawMessage("2"), nil
	case "count":
		r.n++
		return json.Marshal(r.n)
	case "half": // the same twice, then the next
		r.n++
		return json.Marshal(r.n / 2)
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	case "long":
		return json.Marshal(strings.Repeat("x", 200_000))
	case "many":
		return json.RawMessage("[" + strings.TrimSuffix(strings.Repeat("1,", 150), ",") + "]"), nil
	case "stack":
		return nil, &dialect.EvalError{Kind: "NameError", Message: "boom", Stack: "at 1"}
	case "print":
		fmt.Fprint(e.Printed, "hello\n", strings.Repeat("x", 200_000))
		return nil, nil
	case "call":
		return e.Invoke(ctx, "archive.preflight", nil)
	}
	return nil, &dialect.EvalError{Message: "NullReferenceException"}
}

// A guestOf is a client that sends raw messages to a host, and checks each received message with the specification's schemas.
type guestOf struct {
	t *testing.T
	j judge
	c wire.Conn
}

func connect(t *testing.T, s *server, j judge) guestOf {
	near, far := transport.Pair()
	p := peer.New(near, NewCodec(dialect.CodecOptions{}), peer.Options{Handler: s.Accept})
	t.Cleanup(func() { far.Close(); p.Close() })
	return guestOf{t, j, far}
}

// varying matches members whose values differ between runs.
var varying = regexp.MustCompile(`"durationMs":\d+|"timestamp":"[^"]*"|"jobId":"[0-9a-f]{32}"|"platform":"[^"]*"|,"details":null`)

func (g guestOf) recv() string {
	g.t.Helper()
	raw, err := g.c.Recv()
	if err != nil {
		return "end: " + err.Error()
	}
	g.j.fits(g.t, raw)
	return string(raw)
}

// play sends lines that begin with ">", expects lines that begin with "<", and for "=" waits.
func (g guestOf) play(steps ...string) {
	g.t.Helper()
	for _, step := range steps {
		what, text, _ := strings.Cut(step, " ")
		switch what {
		case ">":
			if err := g.c.Send([]byte(text)); err != nil {
				g.t.Fatal(err)
			}
		case "=":
			d, _ := time.ParseDuration(text)
			time.Sleep(d)
		case "<":
			got := varying.ReplaceAllStringFunc(g.recv(), func(s string) string {
				name, _, _ := strings.Cut(s, ":")
				return name + ":0"
			})
			if got != text {
				g.t.Fatalf("got  %s\nwant %s", got, text)
			}
		}
	}
}

const shake = `< {"type":"handshake","protocolVersion":2,"host":{"name":"BepInEx","version":"0.x","platform":0},"evaluator":{"name":"Mono.CSharp","languageVersion":"7.x","persistentState":true,"supportsCompletion":true,"cancellation":"cooperative"},"availableEvaluators":["Mono.CSharp"],"defaultUsings":[],"helpers":[],"control":{"supported":true,"commandsListChanged":false,"schemaValidation":true},"limits":{"maxMessageBytes":4194304,"maxQueuedCommands":32,"maxResultLength":102400,"maxEnumerableElements":100,"defaultEvalTimeoutMs":10000,"maxJobConcurrency":1},"enforces":["maxMessageBytes","maxQueuedCommands","maxResultLength","maxEnumerableElements","maxJobConcurrency"]}`

// host runs a test with a host and a first client whose handshake is complete.
func host(t *testing.T, b backend, test func(s *server, g guestOf)) {
	j := newJudge(t)
	b.dir = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newHost(b)
		g := connect(t, s, j)
		g.t = t
		if strings.HasPrefix(b.limits, "{") || b.r == nil {
			g.recv()
		} else {
			g.play(shake)
		}
		defer s.Close()
		defer g.c.Close()
		test(s, g)
	})
}

func TestComplete(t *testing.T) {
	host(t, backend{r: &engine{}}, func(_ *server, g guestOf) {
		g.play(
			`> {"type":"complete","id":"c-1","code":"UnityEngine.Application.pro"}`,
			`< {"type":"complete_result","id":"c-1","completions":["productName","productVersion"],"durationMs":0}`,
			`> {"type":"complete","id":"c-2","code":"archive map","cursor":4.0}`,
			`< {"type":"complete_result","id":"c-2","completions":["archive.preflight","archive.export"],"durationMs":0}`,
		)
	})
}

func TestEval(t *testing.T) {
	host(t, backend{r: &engine{}}, func(_ *server, g guestOf) {
		fails := func(id, kind, code, message string) string {
			return `< {"type":"eval_error","id":"` + id + `","error":{"kind":"` + kind + `","code":"` + code + `","message":"` + message + `","retryable":false}}`
		}
		g.play(
			// Evals run in order and share state.
			`> {"type":"eval","id":"a","code":"count"}`, `> {"type":"eval","id":"b","code":"count"}`,
			`< {"type":"eval_result","id":"a","hasValue":true,"value":1,"valueType":"number","durationMs":0}`,
			`< {"type":"eval_result","id":"b","hasValue":true,"value":2,"valueType":"number","durationMs":0}`,
			`> {"type":"eval","id":"f","code":"wait","timeoutMs":50}`, fails("f", "timeout", "evalTimeout", "Eval timed out after 50 ms."),
			`> {"type":"eval","id":"f","code":"wait","timeoutMs":5e1}`, fails("f", "timeout", "evalTimeout", "Eval timed out after 50 ms."),
			`> {"type":"eval","id":"f","code":"1 + 1","timeoutMs":9223372036854775807}`, // longer than a time.Duration
			`< {"type":"eval_result","id":"f","hasValue":true,"value":2,"valueType":"number","durationMs":0}`,
			`> {"type":"eval","id":"g","code":"wait"}`, fails("g", "timeout", "evalTimeout", "Eval timed out after 10000 ms."),
			`> {"type":"eval","id":"h","code":"call"}`,
			`< {"type":"eval_result","id":"h","hasValue":true,"value":{"ok":true},"valueType":"object","durationMs":0}`,
			`> {"type":"eval","id":"i","code":"many"}`,
			`< {"type":"eval_result","id":"i","hasValue":true,"value":[`+strings.TrimSuffix(strings.Repeat("1,", 100), ",")+`],"valueType":"array","durationMs":0}`,
			`> {"type":"eval","id":"p","code":"print"}`,
			`< {"type":"eval_result","id":"p","hasValue":false,"stdout":"hello\n`+strings.Repeat("x", 102400-6)+`","durationMs":0}`,
			// A cancel ends queued and running evals, and gets no response.
			`> {"type":"eval","id":"j","code":"wait"}`, `> {"type":"eval","id":"k","code":"count"}`, `= 100ms`,
			`> {"type":"cancel","id":"x","targetId":"k"}`, fails("k", "cancelled", "evalCancelled", "Eval was cancelled."),
			`> {"type":"cancel","id":"x","targetId":"never"}`,
			`> {"type":"cancel","id":"x","targetId":"j"}`, fails("j", "cancelled", "evalCancelled", "Eval was cancelled."),
			// A reset precedes queued evals.
			`= 20ms`, `> {"type":"eval","id":"l","code":"count"}`, `> {"type":"reset","id":"r"}`, fails("l", "cancelled", "evalCancelled", "Reset in progress."),
			`< {"type":"reset_result","id":"r","success":true}`,
			`> {"type":"eval","id":"m","code":"count"}`,
			`< {"type":"eval_result","id":"m","hasValue":true,"value":1,"valueType":"number","durationMs":0}`,
			`> {"type":"eval","id":"n","code":"stack"}`,
			`< {"type":"eval_error","id":"n","error":{"kind":"internal","code":"runtimeException","message":"boom","retryable":false,"details":{"kind":"NameError","stack":"at 1"}}}`,
			// The journal starts with the newest entry.
			`> {"type":"journal_query","id":"q","limit":2.0}`,
			`< {"type":"journal_query_result","id":"q","entries":[{"id":"n","kind":"eval","code":"stack","success":false,"durationMs":0,"errorKind":"internal","timestamp":0},{"id":"m","kind":"eval","code":"count","success":true,"durationMs":0,"timestamp":0}]}`,
			`> {"type":"journal_query","id":"q","kind":"command"}`,
			`< {"type":"journal_query_result","id":"q","entries":[{"id":"r","kind":"command","name":"reset","success":true,"durationMs":0,"timestamp":0}]}`,
			`> {"type":"journal_query","id":"q","kind":"odd"}`, `< {"type":"journal_query_result","id":"q","entries":[]}`,
			`> {"type":"journal_query","id":"q","limit":0}`, `< {"type":"journal_query_result","id":"q","entries":[]}`,
		)
	})
}

func TestSubscriptions(t *testing.T) {
	tick := func(id, seq, val, final string) string {
		return `< {"type":"subscribe_result","id":"` + id + `","seq":` + seq + `,"hasValue":true,"value":` + val + `,"valueType":"number","durationMs":0,"final":` + final + `}`
	}
	fail := func(id, seq, kind, code, message, final string) string {
		return `< {"type":"subscribe_error","id":"` + id + `","seq":` + seq + `,"error":{"kind":"` + kind + `","code":"` + code + `","message":"` + message + `","retryable":false},"final":` + final + `}`
	}
	host(t, backend{r: &engine{}}, func(_ *server, g guestOf) {
		begun := time.Now()
		g.play(`> {"type":"subscribe","id":"w","code":"count","intervalFrames":10,"limit":3}`, tick("w", "1", "1", "false"), tick("w", "2", "2", "false"), tick("w", "3", "3", "true"))
		if frames := time.Since(begun) / (16 * time.Millisecond); frames != 21 {
			t.Errorf("%d frames", frames)
		}
		begun = time.Now() // without intervalFrames, each frame is a tick
		g.play(`> {"type":"subscribe","id":"v","code":"1 + 1","limit":4}`, tick("v", "1", "2", "false"), tick("v", "2", "2", "false"), tick("v", "3", "2", "false"), tick("v", "4", "2", "true"))
		if frames := time.Since(begun) / (16 * time.Millisecond); frames != 4 {
			t.Errorf("%d frames for four values", frames)
		}
		g.play(
			`> {"type":"reset","id":"r"}`, `< {"type":"reset_result","id":"r","success":true}`,
			`> {"type":"subscribe","id":"c","code":"half","onChange":true,"limit":3.0}`, tick("c", "1", "0", "false"), tick("c", "2", "1", "false"), tick("c", "3", "2", "true"),
			`> {"type":"subscribe","id":"l","code":"long","limit":1}`,
			fail("l", "1", "internal", "resultTooLarge", "The value has 200002 bytes; the host sends at most 102400.", "false"),
			`> {"type":"cancel","id":"x","targetId":"l"}`,
		)
		// A cancelled watch has no final tick. A reset ends all watches before its response.
		g.play(`> {"type":"subscribe","id":"s","code":"1 + 1","intervalFrames":1000}`)
		for {
			got := g.recv()
			if strings.Contains(got, `"id":"s"`) {
				break
			}
		}
		g.play(`> {"type":"reset","id":"r2"}`, fail("s", "2", "cancelled", "evalCancelled", "Reset in progress.", "true"), `< {"type":"reset_result","id":"r2","success":true}`)
	})
}

func TestTooManySubscriptions(t *testing.T) {
	host(t, backend{r: &engine{}}, func(_ *server, g guestOf) {
		for i := range maxWatches {
			id := string(rune('a' + i))
			g.play(`> {"type":"subscribe","id":"`+id+`","code":"1 + 1","intervalFrames":1000}`,
				`< {"type":"subscribe_result","id":"`+id+`","seq":1,"hasValue":true,"value":2,"valueType":"number","durationMs":0,"final":false}`)
		}
		g.play(`> {"type":"subscribe","id":"z","code":"1 + 1"}`,
			`< {"type":"subscribe_error","id":"z","seq":0,"error":{"kind":"internal","code":"subscriptionRejected","message":"The host has reached its limit of 8 subscriptions.","retryable":false},"final":true}`)
	})
}

// When a client closes without a message, its subscriptions end, and another client can connect.
func TestSubscriptionsEndWithTheirClient(t *testing.T) {
	r := &engine{}
	host(t, backend{r: r}, func(s *server, g guestOf) {
		g.play(`> {"type":"subscribe","id":"w","code":"count","intervalFrames":10}`,
			`< {"type":"subscribe_result","id":"w","seq":1,"hasValue":true,"value":1,"valueType":"number","durationMs":0,"final":false}`)
		_ = g.c.Close()
		synctest.Wait()
		ran := r.n
		time.Sleep(time.Minute)
		synctest.Wait()
		if r.n != ran {
			t.Errorf("%d more evaluations", r.n-ran)
		}
		s.queue.mu.Lock()
		defer s.queue.mu.Unlock()
		if len(s.queue.watches) > 0 {
			t.Errorf("%d subscriptions remain", len(s.queue.watches))
		}
	})
}
