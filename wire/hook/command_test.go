package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

// TestStatus tests what the script hook-status does not show of the table of statuses in rpcx-hooks(7).
func TestStatus(t *testing.T) {
	t.Parallel()
	const failed = `error {"code":-32603,"message":"the hook failed"}`
	tests := []struct {
		answer, want string
		failure      string // passed to OnFailure; "" means none
	}{
		{`echo '{"a":1.10}'`, `{"a":1.10}`, ""},
		{`printf ' [1,\n 2 ] \n\n'`, `[1,2]`, ""},
		{`printf 12345678901234567890`, `12345678901234567890`, ""},
		{`echo`, `null`, ""},
		{`cat`, `{"x": 1}`, ""},
		{`echo 1 2`, failed, `hook m: printed output that is not one JSON value: "1 2"; use text: for a string`},
		{`echo 1; echo 2`, failed, `hook m: printed output that is not one JSON value: "1\n2"; use text: for a string`},
		{`printf '"\377"'`, `"` + "\uFFFD" + `"`, ""},
		{`echo '{"code":7,"message":"no","data":[1.0],"x":2}'; exit 3`, `error {"code":7,"message":"no","data":[1.0],"x":2}`, ""},
		{`echo '{"code":"E1","message":""}'; exit 64`, `error {"code":"E1","message":""}`, ""},
		{`echo '{"code":null,"message":"no"}'; exit 3`, `error {"code":-32000,"message":"the hook ended with status 3","data":{"exit_status":3,"stderr":""}}`, ""},
		{`echo 5; exit 100`, `error {"code":-32601,"message":"method not found"}`, ""},
		{`exit 126`, failed, `hook m: ended with status 126: its command cannot be executed`},
		{`$T/none/x 2>/dev/null`, failed, `hook m: ended with status 127: its command was not found`},
		{`echo bad >&2; kill -TERM $$`, failed, `hook m: was killed by SIGTERM`},
		{`echo a >&2; printf 'b <c>\n\n' >&2; exit 1`, `error {"code":-32000,"message":"b <c>","data":{"exit_status":1,"stderr":"a\nb <c>\n\n"}}`, ""},
		{`exit 255`, `error {"code":-32000,"message":"the hook ended with status 255","data":{"exit_status":255,"stderr":""}}`, ""},
		{`text:echo hi`, `"hi"`, ""},
		{`text:printf 'a\nb\r\n'`, `"a\nb"`, ""},
		{`text:printf 'a\n\n'`, `"a\n"`, ""},
		{`text:printf '<\377>'`, `"<` + "\uFFFD" + `>"`, ""},
		{`text:true`, `""`, ""},
		{`text:exit 77`, `error {"code":-32001,"message":"refused"}`, ""},
		{`text:echo '{"code":1,"message":"m"}'; exit 9`, `error {"code":1,"message":"m"}`, ""},
		{`json: {"a" : 1.0} `, `{"a" : 1.0}`, ""},
		{`deny`, `error {"code":-32001,"message":"refused"}`, ""},
		{`deny:not you`, `error {"code":-32001,"message":"not you"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.answer, func(t *testing.T) {
			w := newWorld(t, Options{}, Binding{}, "m="+tt.answer)
			testkit.Expect(t, "answer", w.call("m", `{"x": 1}`), tt.want)
			testkit.Expect(t, "failures", w.failures(), tt.failure)
			testkit.Expect(t, "warnings", w.warned(), tt.failure)
		})
	}
}

func TestParamsReachStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{}, "m=read -r line; printf '%s' \"$line\"; if read -r more; then echo more; fi", "cat=text:cat")
	testkit.Expect(t, "absent", w.call("cat", ""), `"null"`)
	testkit.Expect(t, "as they are", w.call("cat", `{"a" : "\u0041"}`), `"{\"a\" : \"\\u0041\"}"`)
	testkit.Expect(t, "on one line", w.call("m", "{\n \"a\" : [\r\n1 ] }"), `{"a":[1]}`)
}

func TestBigParams(t *testing.T) {
	t.Parallel()
	big := `"` + strings.Repeat("x", 1<<20) + `"`
	w := newWorld(t, Options{}, Binding{},
		"unread=echo 1",
		"closed=exec <&-; echo 2",
		"first=head -c 300000 /dev/zero | tr '\\0' ' '; cat",
		"noise=head -c 300000 /dev/zero | tr '\\0' 'x' >&2; cat",
	)
	testkit.Expect(t, "a hook that does not read", w.call("unread", big), "1")
	testkit.Expect(t, "a hook that closes stdin", w.call("closed", big), "2")
	for _, m := range []string{"first", "noise"} {
		if got := w.call(m, big); got != big {
			t.Errorf("%s: returned %d of %d bytes", m, len(got), len(big))
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("RPCX_METHOD", "stale")
	t.Setenv("RPCX_OBJECT", "stale")
	t.Setenv("RPCX_ERRORS", "json")
	t.Setenv("KEPT", "yes")
	const show = `text:env | grep -E '^(RPCX_|KEPT)' | sort`
	binding := Binding{Endpoint: func() (string, error) { return "conversation:/tmp/x", nil }}
	w := newWorld(t, Options{Dialect: "jsonrpc", Session: "work"}, binding, "*="+show)
	got := w.ask(t.Context(), dialect.Request{
		Method: "$(touch x)", ID: wire.ID(`"a b"`),
		Vars: map[string]string{"RPCX_STATE": "on", "ARTIFACTS": "1", "RPCX_OBJECT": "nul\x00", "RPCX_BIG": strings.Repeat("x", 5<<10), "RPCX_A B": "1", "PATH=x": "1", "RPCX_": "1"},
	})
	testkit.Expect(t, "all set", got, `"KEPT=yes\nRPCX_ARTIFACTS=1\nRPCX_DIALECT=jsonrpc\nRPCX_ENDPOINT=conversation:/tmp/x#h1\nRPCX_ERRORS=json\nRPCX_ID=\"a b\"\nRPCX_METHOD=$(touch x)\nRPCX_SESSION=work\nRPCX_STATE=on"`)

	w = newWorld(t, Options{}, Binding{}, "*="+show)
	got = w.ask(t.Context(), dialect.Request{Method: strings.Repeat("m", 4097), ID: wire.ID(`"` + strings.Repeat("i", 5<<10) + `"`)})
	testkit.Expect(t, "too long", got, `"KEPT=yes\nRPCX_ERRORS=json"`)
	got = w.ask(t.Context(), dialect.Request{Method: "a\x00b", ID: wire.ID(strings.Repeat("1", 4096))})
	testkit.Expect(t, "NUL, and just short enough", got, `"KEPT=yes\nRPCX_ERRORS=json\nRPCX_ID=`+strings.Repeat("1", 4096)+`"`)

	w = newWorld(t, Options{}, Binding{Endpoint: func() (string, error) { return "", errors.New("no folder") }}, "m=text:echo ${RPCX_ENDPOINT-unset}")
	testkit.Expect(t, "no endpoint", w.call("m", "")+w.call("m", ""), `"unset""unset"`)
	testkit.Expect(t, "said once", w.warned(), "hooks cannot call the peer: no folder")
}

func TestStderrComesLiveInWholeLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{}, `m=printf 'one\ntw' >&2; while ! [ -e $T/go ]; do sleep 0.01; done; printf 'o' >&2`)
	done := make(chan string)
	go func() { done <- w.call("m", "") }()
	testkit.Until(t, "the first line is there", func() bool { return w.stderr.String() == "one\n" })
	w.write("go", "")
	testkit.Expect(t, "answer", <-done, "null")
	testkit.Expect(t, "stderr", w.stderr.String(), "one\ntwo\n")
}

func TestStderrTailIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{}, `m=i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i+1)); done >&2; exit 4`)
	var got struct {
		Data struct{ Stderr string }
	}
	answer := strings.TrimPrefix(w.call("m", ""), "error ")
	if err := json.Unmarshal([]byte(answer), &got); err != nil || !strings.HasPrefix(answer, `{"code":-32000,"message":"line 2999"`) {
		t.Fatal(answer)
	}
	if s := got.Data.Stderr; len(s) != 4096 || !strings.HasSuffix(s, "line 2998\nline 2999\n") {
		t.Errorf("%d bytes of stderr are stored", len(s))
	}
	n := 0
	end := tail{to: func(lines []byte) { n += len(lines) }}
	for _, part := range []string{strings.Repeat("x", 64<<10), "y"} { // a longer line is not kept
		if n > 0 {
			t.Errorf("%d bytes were forwarded", n)
		}
		end.Write([]byte(part))
	}
	testkit.Expect(t, "bytes that were forwarded", n, 64<<10+1)
}

// When its request is cancelled or its connection is closed, a hook ends with all processes that it has started.
func TestEndOfTheGroup(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, cancel func()){
		"cancel": func(_ *world, cancel func()) { cancel() }, "close": func(w *world, _ func()) { testkit.OK(t, w.Close()) },
	} {
		w := newWorld(t, Options{}, Binding{}, `m=sleep 1000 & echo $! > $T/grandchild; wait`)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan string)
		go func() { done <- w.ask(ctx, dialect.Request{Method: "m"}) }()
		testkit.Until(t, "the hook runs", func() bool { return w.written("grandchild") })
		end(w, cancel)
		testkit.Expect(t, name, <-done, "failed: context canceled")
		w.pidGone("grandchild")
		testkit.Expect(t, "failures", w.failures(), "")
		if name == "close" {
			testkit.Expect(t, "after Close", w.call("m", ""), "failed: the connection is closed")
		}
	}
}

// A background process that a successful command starts lives as long as the connection, whether or not it keeps the command's pipes.
func TestBackgroundProcessesEndWithTheConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{},
		`m=sleep 1000 & echo $! > $T/grandchild; echo 5`,
		`chatty=(echo $$ > $T/chatty; while :; do echo x; sleep 0.02; done) & echo 5; exit 0`,
		`silent=sleep 1000 >/dev/null 2>&1 & echo $! > $T/daemon; echo 6`,
		`lines=lines:sleep 1000 & echo $! > $T/ofLines; echo 7`,
		`short=sleep 0.05 & echo $! > $T/short; echo 8`,
		`alive=kill -0 $(cat $T/grandchild $T/daemon $T/ofLines) && echo true`,
	)
	testkit.Expect(t, "answer", w.call("short", ""), "8")
	testkit.Expect(t, "answer", w.call("m", ""), "5")
	testkit.Expect(t, "answer", w.call("lines", ""), "7")
	if got := w.call("chatty", ""); got != "5" && !strings.HasPrefix(got, "error") {
		t.Errorf("got %s", got)
	}
	testkit.Expect(t, "answer", w.call("silent", ""), "6")
	w.pidGone("short")
	testkit.Expect(t, "all three live", w.call("alive", ""), "true")
	testkit.OK(t, w.Close())
	for _, name := range []string{"grandchild", "daemon", "ofLines"} {
		w.pidGone(name)
	}
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{}, `m=tr '\0' ' ' < /dev/zero`, `line=lines:tr '\0' ' ' < /dev/zero`, `co=co:tr '\0' ' ' < /dev/zero`)
	for _, name := range []string{"m", "line", "co"} {
		testkit.Expect(t, "answer", w.call(name, ""), `error {"code":-32603,"message":"the hook failed"}`)
	}
	testkit.Expect(t, "failures", w.failures(), "hook m: printed more than 64 MiB\nhook line: printed more than 64 MiB\nhook co: the co-process did not answer: it was killed by SIGTERM")
	testkit.Until(t, "the warning", func() bool {
		return strings.Contains(w.warned(), "hook co: the co-process printed more than 64 MiB on one line")
	})
}

// A command that cannot be started fails. The argument is longer than the system allows.
func TestStartFails(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 4<<20)
	w := newWorld(t, Options{OnOpen: &Answer{Kind: Sh, Text: "exit 100"}}, Binding{SingleExchange: true}, "m=sh:"+long, "co=co:"+long)
	for _, name := range []string{"m", "co"} {
		testkit.Expect(t, "answer", w.call(name, ""), `error {"code":-32603,"message":"the hook failed"}`)
	}
	testkit.Expect(t, "failures", w.failures(), "hook m: sh cannot be started: argument list too long\nhook co: sh cannot be started: argument list too long")
	_ = w.table.Close()
	testkit.Expect(t, "after Close", w.call("co", ""), "failed: the connection is closed")
	other := w.table.Bind(Binding{Client: "c"})
	other.Open()
	testkit.Until(t, "the end of --on-open", func() bool { return strings.HasSuffix(w.warned(), "c: hook --on-open: ended with status 100") })
	_ = other.Close()
	other.Open() // does nothing
}

func TestChains(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{},
		`a=exit 100`, `a=lines:exit 100`, `a=jq:.x`, `a=json:1`,
		`b=exit 100`, `b=exit 100`, `b*=json:2`,
		`c=exit 77`, `c=json:3`,
		`d=exit 100`, `d=deny`,
	)
	testkit.Expect(t, "the third answers", w.call("a", `{"x":7}`), "7")
	testkit.Expect(t, "a chain ends with its name", w.call("b", ""), `error {"code":-32601,"message":"method not found"}`)
	testkit.Expect(t, "an error ends a chain", w.call("c", ""), `error {"code":-32001,"message":"refused"}`)
	testkit.Expect(t, "a refusal", w.call("d", ""), `error {"code":-32001,"message":"refused"}`)
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{},
		`ok=echo not JSON; cat > $T/got`, `bad=echo why >&2; exit 3`, `killed=kill -9 $$`, `next=exit 100`, `lines=lines:echo x`, `jq=jq:error("e")`, `deny=deny`)
	for _, m := range []string{"ok", "bad", "killed", "next", "lines", "jq", "deny", "none"} {
		out, err := w.Answer(t.Context(), dialect.Request{Method: m, Params: raw(`[1]`), Notification: true})
		if m != "none" && (out != nil && m != "jq" || err != nil) {
			t.Errorf("%s: %s, %v", m, out, err)
		}
	}
	testkit.Expect(t, "what it got", w.read("got"), "[1]\n")
	testkit.Expect(t, "warnings", w.warned(), strings.Join([]string{
		"hook bad: the notification failed: the hook ended with status 3",
		"hook killed: was killed by SIGKILL",
		`hook jq: jq: error: e`,
		"hook deny: the notification failed: refused",
	}, "\n"))
	testkit.Expect(t, "failures", w.failures(), "hook killed: was killed by SIGKILL\nhook jq: jq: error: e")
}

func TestWarningsHaveNoEscapes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{}, `*=echo x`)
	w.call("\x1b[2J"+strings.Repeat("y", 500), "")
	if got := w.warned(); strings.ContainsRune(got, 0x1b) || len(got) > 300 || !strings.HasPrefix(got, `hook * ("\x1b[2Jyyy`) {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("a", 80)
	testkit.Expect(t, "a long name", shown(long), long)
	testkit.Expect(t, "a longer name", shown(long+"a"), `"`+long+`a"`)
	testkit.Expect(t, "cut", cut("abc", 3)+cut("abcd", 3), "abcabc…")
}

func TestSlots(t *testing.T) {
	t.Parallel()
	// Each hook waits for the file of the other. With a single slot, they end only if a nested call frees it.
	meet := func(mine, other string) string {
		return fmt.Sprintf(`%s=touch $T/%[1]s; while ! [ -e $T/%s ]; do sleep 0.01; done; echo '"%[1]s"'`, mine, other)
	}
	w := newWorld(t, Options{Jobs: 1}, Binding{}, meet("a", "b"), meet("b", "a"), "quick=jq:.")
	var wg sync.WaitGroup
	wg.Go(func() { testkit.Expect(t, "a", w.call("a", ""), `"a"`) })
	testkit.Until(t, "a runs", func() bool { return w.exists("a") })
	started := make(chan struct{})
	wg.Go(func() { close(started); testkit.Expect(t, "b", w.call("b", ""), `"b"`) })
	<-started
	testkit.Expect(t, "jq needs no slot", w.call("quick", "1"), "1")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	testkit.Expect(t, "who waits can give up", w.ask(ctx, dialect.Request{Method: "b"}), "failed: context deadline exceeded")
	if w.exists("b") {
		t.Fatal("b runs beside a")
	}
	w.Suspend("nobody")()
	resume := w.Suspend("h1")
	testkit.Until(t, "b runs", func() bool { return w.exists("b") })
	resume()
	resume()
	wg.Wait()
	w.Suspend("h1")()
	testkit.Expect(t, "free slots", w.table.slots.free, 1)
}

func TestSlotsAreServedInOrder(t *testing.T) {
	s := &share{of: &semaphore{free: 2}}
	ctx := t.Context()
	for range 2 {
		testkit.OK(t, s.acquire(ctx))
	}
	const n = 5
	served := make(chan int, n)
	giveUp, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for i := range n {
		c := ctx
		if i == 2 {
			c = giveUp
		}
		wg.Go(func() {
			if s.acquire(c) == nil {
				served <- i
			}
		})
		testkit.Until(t, "it waits", func() bool { s.of.mu.Lock(); defer s.of.mu.Unlock(); return len(s.waiters) == i+1 })
	}
	cancel()
	testkit.Until(t, "one gave up", func() bool { s.of.mu.Lock(); defer s.of.mu.Unlock(); return len(s.waiters) == n-1 })
	s.retake() // as if a paused hook resumed: three run now
	s.release()
	select {
	case i := <-served:
		t.Fatalf("%d got a slot beyond the bound", i)
	default:
	}
	for _, want := range []int{0, 1, 3, 4} {
		s.release()
		testkit.Expect(t, "served", <-served, want)
	}
	wg.Wait()
	s.release()
	s.release()
	testkit.Expect(t, "free slots", s.of.free, 2)
}
