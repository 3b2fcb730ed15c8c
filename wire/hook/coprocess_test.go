package hook

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func TestCoProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{Endpoint: func() (string, error) { return "conversation:/x", nil }},
		`*=co:echo start >> $T/starts; env | grep '^RPCX_' >> $T/env; while read -r line; do printf '%s\n' "$line" >> $T/lines
			case $line in
			*ping\"*) echo '{"id":1,"result":[1.0,"<>"]}' ;;
			*fail\"*) echo '{"id":2,"error":{"code":7,"message":"no","x":1}}' ;;
			*text\"*) echo '{"id":3,"error":"no"}' ;;
			*null\"*) echo '{"error":null,"result":null,"id":4}' ;;
			*half\"*) echo '{"id":5}' ;;
			*noise\"*) echo '{"id":"six"}'; echo noise; echo '[1]'; echo '{"id":99,"result":1}'; echo '{"id":6,"result":6}' ;;
			esac; done`)
	testkit.Expect(t, "result", w.call("ping", "{\n\"a\":1}"), `[1.0,"<>"]`)
	testkit.Expect(t, "error", w.call("fail", ""), `error {"code":7,"message":"no","x":1}`)
	testkit.Expect(t, "error that is a string", w.call("text", ""), `error {"code":-32000,"message":"no"}`)
	testkit.Expect(t, "null", w.call("null", ""), `null`)
	testkit.Expect(t, "neither", w.call("half", ""), `error {"code":-32603,"message":"the hook failed"}`)
	testkit.Expect(t, "noise", w.call("noise", ""), `6`)
	if out, err := w.Answer(t.Context(), dialect.Request{Method: "note", Params: raw("[5]"), Notification: true}); out != nil || err != nil {
		t.Errorf("%s, %v", out, err)
	}
	testkit.Until(t, "the notification is there", func() bool { return strings.Contains(w.read("lines"), `{"method":"note","params":[5]}`+"\n") })
	testkit.Expect(t, "first line", strings.SplitAfter(w.read("lines"), "\n")[0], `{"id":1,"method":"ping","params":{"a":1}}`+"\n")
	testkit.Expect(t, "starts", w.read("starts"), "start\n")
	testkit.Expect(t, "environment", w.read("env"), "RPCX_ENDPOINT=conversation:/x#h1\n")
	testkit.Expect(t, "warnings", w.warned(), "hook * (half): answered with neither result nor error\n"+
		`hook *: the co-process printed a line that answers no call: "{\"id\":\"six\"}"`)
}

func TestCoOutOfOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Jobs: 1}, Binding{}, `m=co:read a; read b; read c; for id in 3 1 2; do echo '{"id":'$id',"result":'$id'0}'; done; cat >/dev/null`)
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]bool{}
	for range 3 {
		wg.Go(func() {
			s := w.call("m", "")
			mu.Lock()
			defer mu.Unlock()
			got[s] = true
		})
	}
	wg.Wait()
	if !got["10"] || !got["20"] || !got["30"] {
		t.Errorf("%v", got)
	}
}

// The ids of calls are decimal numbers. A response with an unknown id is dropped, with one warning.
func TestCoManyCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{}, `m=co:n=0; while read -r line; do n=$((n + 1)); echo '{"id":1.5,"result":0}'; echo '{"id":99999999999999999999,"result":0}'; echo '{"id":'$n',"result":"'$n'"}'; done`)
	for i := range 21 {
		testkit.Expect(t, "a call", w.call("m", ""), fmt.Sprintf("%q", fmt.Sprint(i+1)))
	}
	testkit.Expect(t, "warnings", w.warned(), `hook m: the co-process printed a line that answers no call: "{\"id\":1.5,\"result\":0}"`)
}

func TestCoDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{},
		`m=co:read a; read b; echo $$ >> $T/died; sleep 1000 & echo $! > $T/grandchild; exit 3`,
		`idle=co:read a; echo '{"id":1,"result":1}'; echo why >&2; exit 4`,
		`words=co:read a; echo '{"id":1,"result":"last words"}'`,
		`none=co:$T/none/co 2>/dev/null`)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			testkit.Expect(t, "pending", w.call("m", ""), `error {"code":-32603,"message":"the hook failed"}`)
		})
	}
	wg.Wait()
	w.pidGone("grandchild")
	const died = "hook m: the co-process did not answer: it ended with status 3"
	testkit.Expect(t, "failures", w.failures(), died+"\n"+died)
	for range 2 {
		wg.Go(func() { w.call("m", "") })
	}
	wg.Wait()
	testkit.Expect(t, "co-processes that died", strings.Count(w.read("died"), "\n"), 2)
	testkit.Expect(t, "idle", w.call("idle", ""), "1")
	testkit.Until(t, "its end is told", func() bool {
		return strings.HasSuffix(w.warned(), "hook idle: the co-process ended with status 4: why")
	})
	for range 3 {
		testkit.Expect(t, "last words", w.call("words", ""), `"last words"`)
		testkit.Until(t, "it is gone", func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ConnectionHooks.mu.Lock()
			defer w.ConnectionHooks.mu.Unlock()
			for _, co := range w.cos {
				if co.c.pattern == "words" && !wire.IsClosed(co.done) {
					return false
				}
			}
			return true
		})
	}
	testkit.Expect(t, "cannot be run", w.call("none", ""), `error {"code":-32603,"message":"the hook failed"}`)
}

func TestCoCloseEndsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{},
		`polite=co:echo $$ > $T/polite; while read -r l; do echo '{"id":1,"result":1}'; done; echo bye > $T/bye`,
		`rude=co:trap '' TERM; sleep 1000 & echo $$ > $T/rude; while :; do sleep 0.1; done`,
		`full=co:echo $$ > $T/full; sleep 1000`)
	testkit.Expect(t, "polite", w.call("polite", ""), "1")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { w.ask(ctx, dialect.Request{Method: "rude"}) })
	for i := range 5 { // more than a pipe holds unread
		wg.Go(func() {
			w.ask(ctx, dialect.Request{Method: "full", Params: raw(fmt.Sprintf(`[%d,"%s"]`, i, strings.Repeat("x", 100_000)))})
		})
	}
	testkit.Until(t, "all run", func() bool { return w.written("rude") && w.written("full") })
	cancel()
	wg.Wait()
	testkit.OK(t, w.Close())
	testkit.Expect(t, "the polite one came to its end", w.read("bye"), "bye\n")
	for _, pid := range []string{"polite", "rude", "full"} {
		w.pidGone(pid)
	}
	testkit.Expect(t, "warnings", w.warned(), "")
}
