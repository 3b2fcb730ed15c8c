package program

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
)

func TestFirst(t *testing.T) {
	scope := &Scope{Method: "m", Params: json.RawMessage(`{"z":1.10,"a":[]}`)}
	for text, want := range map[string]string{
		`"tools/call"`:             `"tools/call"`,
		`"\(.x)!"`:                 `"7!"`,
		`{"b":1,"a":2}`:            `{"b":1,"a":2}`,
		`$params`:                  `{"z":1.10,"a":[]}`,
		`$method`:                  `"m"`,
		`$token`:                   `null`,
		`empty`:                    ``,
		`.x, 8`:                    `7`,
		`{p: $params, m: $method}`: `{"m":"m","p":{"z":1.10,"a":[]}}`,
	} {
		got, err := New(text).First(json.RawMessage(`{"x":7}`), scope.Value)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

// What a program may not do: run on and on, read anything, call anything.
func TestBounds(t *testing.T) {
	for text, want := range map[string]string{
		`[range(1e9)]`:       "it took longer than 100ms",
		`def f: f; f`:        "it took longer than 100ms",
		`input`:              "",
		`rpc("m"; 1)`:        "function not defined: rpc/2",
		`import "x" as x; .`: "",
		`error("no")`:        "no",
	} {
		start := time.Now()
		_, err := New(text).First(nil, (&Scope{}).Value)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if took := time.Since(start); took > 20*Limit {
			t.Errorf("%s took %v", text, took)
		}
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Helper && f.Kind != wire.Usage {
			t.Errorf("%s: %v is no fault of ours", text, err)
		}
	}
	t.Setenv("SECRET", "x")
	if got, err := New(`[env, $ENV]`).First(nil, (&Scope{}).Value); err != nil || string(got) != "[{},{}]" && string(got) != "[{},null]" {
		t.Errorf("the environment is read: %s, %v", got, err)
	}
}
