package scriptling

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// Calls to an object run one after the other, except while one of them waits for a callback.
func TestObjectTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &object{}
		ctx, cancel := context.WithCancel(t.Context())
		entered := 0
		enter := func(ctx context.Context) error {
			err := o.enter(ctx)
			if err == nil {
				entered++
			}
			return err
		}
		if enter(ctx) != nil {
			t.Fatal("the first call waits")
		}
		failed := make(chan error, 1)
		go func() { failed <- enter(ctx) }()
		go func() { _ = enter(t.Context()) }()
		synctest.Wait()
		if entered != 1 {
			t.Fatalf("%d calls run at once", entered)
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Fatalf("a cancelled call: %v", err)
		}
		o.wait(true)
		synctest.Wait()
		if entered != 2 {
			t.Fatal("a call during the callback waits")
		}
		go func() { _ = enter(t.Context()) }()
		synctest.Wait()
		if entered != 2 {
			t.Fatal("two calls run during one callback")
		}
		o.leave()
		synctest.Wait()
		if entered != 3 {
			t.Fatal("the next call waits")
		}
		o.wait(false)
		o.leave()
		o.leave()
		if enter(t.Context()) != nil || enter(ctx) == nil || entered != 4 {
			t.Fatal("after the callback, calls do not run one after the other")
		}
	})
}

// Callbacks can be inside lists and dicts.
func TestCallbacksInParams(t *testing.T) {
	params := `{"args":[{"type":"list","items":[{"type":"callback","callback":{"id":"a"}}]},{"type":"dict","entries":{"k":{"type":"callback","callback":{"id":"b"}}}}],` +
		`"kwargs":{"k":{"type":"callback","callback":{"id":"c"}}}}`
	if ids := callbacksIn([]byte(params)); !slices.Equal(ids, []string{"a", "b", "c"}) {
		t.Error(ids)
	}
}

// A plugin's log lines become events.
func TestLogEvents(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{`{"level":"WARNING","message":"m"}`, `{"event":"log","level":"warn","message":"m"}`},
		{`{"level":"Fatal","message":"m"}`, `{"event":"log","level":"fatal","message":"m"}`},
		{`{"level":"odd","message":"m"}`, `{"event":"log","level":"info","message":"m"}`},
		{`{"message":"m"}`, `{"event":"log","level":"info","message":"m"}`},
		{`{"level":"debug","args":[7]}`, `{"event":"log","level":"debug","message":"","extra":{"args":[7]}}`},
		{`{"level":"debug","args":[{}]}`, `{"event":"log","level":"debug","message":"","extra":{"args":[null]}}`},
		{`{"message":"\u001b[31m"}`, `{"event":"log","level":"info","message":"\u001b[31m"}`},
		{`{"level":"trace"}`, `{"event":"log","level":"trace","message":""}`},
		{`{"level":7,"message":7}`, `{"event":"log","level":"info","message":""}`},
		{`{"level":"info","message":"m","args":[]}`, `{"event":"log","level":"info","message":"m"}`},
		{`{"level":"info","message":"m","args":[{"type":"string","value":"k"},{"type":"int","value":1},{"type":"string","value":"l"},{"type":"null"}]}`, `{"event":"log","level":"info","message":"m","extra":{"k":1,"l":null}}`},
		{`{"level":"info","message":"m","args":[{"type":"string","value":"k"}]}`, `{"event":"log","level":"info","message":"m","extra":{"args":["k"]}}`},
		{`{"level":"info","message":"m","args":[{"type":"string","value":"k"},{"type":"int","value":1},{"type":"string","value":"k"},{"type":"int","value":2}]}`, `{"event":"log","level":"info","message":"m","extra":{"args":["k",1,"k",2]}}`},
		{`{"level":"info","message":"m","args":[{"type":"int","value":1},{"type":"int","value":2}]}`, `{"event":"log","level":"info","message":"m","extra":{"args":[1,2]}}`},
		{`{"level":"info","message":"m","args":[{"type":"string","value":""},{"type":"int","value":2}]}`, `{"event":"log","level":"info","message":"m","extra":{"":2}}`},
		{`{"level":"info","message":"m","args":[{"type":"BAD","value": 1}]}`, `{"event":"log","level":"info","message":"m","extra":{"args":[{"type":"BAD","value": 1}]}}`},
		{`{"level":"info","message":"m","args":7}`, `{"event":"log","level":"info","message":"m","extra":{"args":7}}`},
	} {
		if got := string(logEvent([]byte(c.params)).AppendJSON(nil)); got != c.want {
			t.Errorf("GOLD %q\n got %q\nwant %q", c.params, got, c.want)
		}
	}
}
