package program

import (
	"encoding/json"
	"fmt"
	"slices"
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

// Programs must not run forever, read anything or call anything.
func TestBounds(t *testing.T) {
	for text, want := range map[string]string{
		`[range(1e9)]`:  "it took longer than 100ms",
		`def f: f; f`:   "it took longer than 100ms",
		`def f: [f]; f`: "it took longer than 100ms",
		`reduce range(60) as $i ("xxxxxxxxxx"; . + .)`: "one step needs more than 64 MiB|it took longer than 100ms",
		`until(false; .)`:                "it took longer than 100ms",
		`last(range(1e12))`:              "it took longer than 100ms",
		oneLongStep(t):                   "it took longer than 100ms",
		`input`:                          "input(s)/0 is not allowed",
		`inputs`:                         "input(s)/0 is not allowed",
		`input_filename`:                 "function not defined: input_filename/0",
		`input_line_number`:              "function not defined: input_line_number/0",
		`get_search_list`:                "function not defined: get_search_list/0",
		`rpc("m"; 1)`:                    "function not defined: rpc/2",
		`call("m"; 1)`:                   "function not defined: call/2",
		`$__prog_args`:                   "variable not defined: $__prog_args",
		`import "x" as x; .`:             "cannot load module",
		`import "/etc/passwd" as $x; $x`: "cannot load module",
		`include "x"; .`:                 "cannot load module",
		`"x" | modulemeta`:               "cannot load module",
		`error("no")`:                    "no",
		`"no" | halt_error`:              "no",
	} {
		start := time.Now()
		_, err := New(text).First(nil, (&Scope{}).Value)
		if err == nil || !slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool { return strings.Contains(err.Error(), w) }) {
			t.Errorf("%s: %v", text, err)
		}
		if took := time.Since(start); took > 20*Limit {
			t.Errorf("%s took %v", text, took)
		}
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Helper && f.Kind != wire.Usage {
			t.Errorf("%s: %v is not a Fault of kind helper or usage", text, err)
		}
	}
	t.Setenv("SECRET", "x")
	for text, want := range map[string]string{
		`[env, $ENV, env.SECRET]`:         `[{},{},null]`,
		`[debug, stderr]`:                 `[null,null]`, // prints nothing
		`halt`:                            ``,
		`[$ARGS.positional, $ARGS.named]`: `[[],{}]`,
	} {
		if got, err := New(text).First(nil, (&Scope{}).Value); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

// The outputs of a program are bounded in number and size.
func TestOutputsAreBounded(t *testing.T) {
	for text, want := range map[string]string{
		"range(100000)":  "",
		"range(100001)":  "more than 100000 outputs",
		`"x" * 67108863`: "an output of more than 67108864 bytes",
		"nosuch":         "function not defined: nosuch/0",
	} {
		if _, err := New(text).All(nil, (&Scope{}).Value); err == nil != (want == "") || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// oneLongStep returns a program with a step that takes slightly longer than the time limit of programs. The step keeps running
// after the test.
func oneLongStep(t *testing.T) string {
	for n := 8000; n < 1_000_000; n += n / 2 {
		text := fmt.Sprintf(`"a" * %d | [match("a"; "g")] | last`, n)
		begun := time.Now()
		if _, err := New(text).All(nil, (&Scope{}).Value); err != nil {
			t.Fatal(err)
		}
		if time.Since(begun) > 10*Limit {
			return text
		}
	}
	t.Fatal("no long steps")
	return ""
}
