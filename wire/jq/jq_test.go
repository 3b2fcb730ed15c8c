package jq

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
)

func compiled(t testing.TB, src string, o Options) *Program {
	t.Helper()
	p, err := Compile(src, o)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return p
}

// outputs runs src on in and returns its output as lines.
func outputs(t *testing.T, o Options, src, in string) (string, error) {
	t.Helper()
	return run(t.Context(), compiled(t, src, o), in)
}

func run(ctx context.Context, p *Program, in string) (string, error) {
	var lines []string
	err := p.Run(ctx, json.RawMessage(in), func(out json.RawMessage) (bool, error) {
		lines = append(lines, string(out))
		return true, nil
	})
	return strings.Join(lines, "\n"), err
}

func TestRun(t *testing.T) {
	vars := Options{Vars: map[string]json.RawMessage{"who": json.RawMessage(`"Ada"`), "big": json.RawMessage(`12345678901234567890`)}}
	tests := []struct{ src, in, want string }{
		{`.`, `{"b":1,"a":2}`, `{"b":1,"a":2}`},
		{`select(.a == 2)`, `{"b":1, "a":2}`, `{"b":1,"a":2}`},
		{`{z: .z, a: .b}`, `{"b":{"y":1.10,"x":[ 1 ]},"z":[{"k":0,"j":0}]}`, `{"a":{"y":1.10,"x":[1]},"z":[{"k":0,"j":0}]}`},
		{`.[0:1], .[1:], map(.)`, `[{"b":1,"a":1},2]`, "[{\"b\":1,\"a\":1}]\n[2]\n[{\"b\":1,\"a\":1},2]"},
		{`.a = 1`, `{"b":{"d":1,"c":2},"a":2}`, `{"a":1,"b":{"d":1,"c":2}}`},
		{`.b.c |= 3`, `{"b":{"d":1,"c":2},"a":{"f":0,"e":0}}`, `{"a":{"f":0,"e":0},"b":{"c":3,"d":1}}`},
		{`.`, ` 1.10 `, `1.10`},
		{`.`, `1e1000`, `1e1000`},
		{`.id`, `{"id":12345678901234567890}`, `12345678901234567890`},
		{`[.id]`, `{"id":12345678901234567890}`, `[12345678901234567890]`},
		{`.n + 1`, `{"n":9007199254740993}`, `9007199254740994`},
		{`.a.b.c`, `{"a":{"b":{"c":[3, 2 ]}}}`, `[3,2]`},
		{`.a`, `{"a":1,"a":2}`, `2`},
		{`.[0]`, `[ "x" ,2]`, `"x"`},
		{`.[-1]`, `[1, {"z":1,"y":[]} ]`, `{"z":1,"y":[]}`},
		{`.[7]`, `[1]`, `null`},
		{`.x.y`, `{}`, `null`},
		{`.s`, `{"s":"<a>&\u0041\/"}`, `"<a>&\u0041\/"`},
		{`.s`, "{\"s\":\"\u2028\"}", "\"\u2028\""},
		{`.params.result | {n: .number}`, `{"params":{"result":{"number":"0x1","x":2}}}`, `{"n":"0x1"}`},
		{`.a[] | .b`, `{"a":[{"b":1},{"b":2}]}`, "1\n2"},
		{`.a?`, `[]`, ``},
		{`empty`, `1`, ``},
		{`1, halt, 2`, `null`, `1`},
		{`"hi " + $who`, `null`, `"hi Ada"`},
		{`$big`, `null`, `12345678901234567890`},
		{`$ARGS.named.who`, `null`, `"Ada"`},
		{`debug | debug("x") | stderr`, `5`, `5`},
		{`[env, $ENV]`, `null`, `[{},{}]`},
		{`@sh`, `"it's"`, `"'it'\\''s'"`},
		{`.["a b"]["c"]`, `{"a b":{"c":true}}`, `true`},
	}
	for _, tt := range tests {
		got, err := outputs(t, vars, tt.src, tt.in)
		if err != nil || got != tt.want {
			t.Errorf("%s on %s: got %q, %v; want %q", tt.src, tt.in, got, err, tt.want)
		}
	}
}

func TestEnv(t *testing.T) {
	t.Setenv("JQ_TEST_X", "7")
	got, err := outputs(t, Options{Env: true}, `$ENV.JQ_TEST_X + env.JQ_TEST_X`, `null`)
	if err != nil || got != `"77"` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestDebug(t *testing.T) {
	var w strings.Builder
	if _, err := outputs(t, Options{Stderr: &w}, `debug, debug("a", .b) | {b} | stderr | "raw\n" | stderr`, `{"b":1}`); err != nil {
		t.Fatal(err)
	}
	want := "[\"DEBUG:\",{\"b\":1}]\n{\"b\":1}raw\n[\"DEBUG:\",\"a\"]\n[\"DEBUG:\",1]\n{\"b\":1}raw\n"
	if w.String() != want {
		t.Errorf("got %q\nwant %q", w.String(), want)
	}
}

func TestCompileFaults(t *testing.T) {
	tests := []struct{ src, want string }{
		{`.a |}`, `jq: unexpected token "}" at offset 4 of: .a |}`},
		{`.a | (`, `jq: unexpected EOF at offset 6 of: .a | (`},
		{"1 |\n  .a b\n| 2", `jq: unexpected token "b" at offset 9 (line 2, column 6) of:   .a b`},
		{`"abc`, `jq: unterminated string literal at offset 4 of: "abc`},
		{`nosuch(1)`, `jq: function not defined: nosuch/1 in: nosuch(1)`},
		{`.a | $x`, `jq: variable not defined: $x in: .a | $x`},
		{`import "a" as b; 1`, `jq: cannot load module: "a" in: import "a" as b; 1`},
		{`def f: nosuch; .a`, `jq: function not defined: nosuch/0 in: def f: nosuch; .a`},
		{`.a | def f: nosuch; .`, `jq: function not defined: nosuch/0 in: .a | def f: nosuch; .`},
		{`input`, `jq: input(s)/0 is not allowed in: input`},
	}
	for _, tt := range tests {
		_, err := Compile(tt.src, Options{})
		f := wire.AsFault(err)
		if f == nil || f.Kind != wire.Usage || f.Message != tt.want {
			t.Errorf("Compile(%q): %v, want %s", tt.src, err, tt.want)
		}
	}
	huge := json.RawMessage("1" + strings.Repeat("0", maxDigits))
	_, err := Compile("$x", Options{Vars: map[string]json.RawMessage{"x": huge}})
	if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || !errors.Is(err, errHuge) {
		t.Errorf("a variable with too many digits: %v", err)
	}
}

func TestRunFaults(t *testing.T) {
	tests := []struct{ src, in, want string }{
		{`.a`, `[]`, `jq: expected an object but got: array ([])`},
		{`.a.b`, `{"a":"text"}`, `jq: expected an object but got: string ("text")`},
		{`.a | .[0] | 1`, `{"a":5}`, `jq: expected an array but got: number (5)`},
		{`error("no")`, `1`, `jq: error: no`},
		{`"bye\n" | halt_error`, `1`, `jq: bye`},
		{`.`, `{"a":}`, `jq: the input is not JSON: `},
		{`.[0]|.+1`, `[1` + strings.Repeat("0", 10_000) + `]`, `jq: cannot compute with the input: a number has more than 10000 digits`},
		{`.a`, `{"a":1} 2`, `jq: the input is not JSON: `},
		{`.a`, ``, `jq: the input is not JSON: `},
	}
	for _, tt := range tests {
		_, err := outputs(t, Options{}, tt.src, tt.in)
		f := wire.AsFault(err)
		if f == nil || f.Kind != wire.Helper || !strings.HasPrefix(f.Message, tt.want) {
			t.Errorf("%s on %s: %v, want %s", tt.src, tt.in, err, tt.want)
		}
	}
}

func TestTruth(t *testing.T) {
	tests := []struct {
		src, in string
		want    bool
	}{
		{`.a`, `{"a":0}`, true},
		{`.a`, `{"a":""}`, true},
		{`.a`, `{"a": false}`, false},
		{`.a`, `{"a":null}`, false},
		{`.a`, `{}`, false},
		{`.`, ` false `, false},
		{`empty`, `1`, false},
		{`false, 1`, `1`, true},
		{`null, false`, `1`, false},
		{`1, error("never reached")`, `1`, true},
	}
	for _, tt := range tests {
		p := compiled(t, tt.src, Options{})
		if got, err := p.Truth(t.Context(), json.RawMessage(tt.in)); got != tt.want || err != nil {
			t.Errorf("%s on %s: %v, %v", tt.src, tt.in, got, err)
		}
	}
}

func TestFuncs(t *testing.T) {
	type keyType struct{}
	errThrown := errors.New("thrown")
	o := Options{Funcs: []Func{
		{Name: "add2", Arity: 2, Call: func(ctx context.Context, in any, args []any) (any, error) {
			return []any{ctx.Value(keyType{}), in, args[0], args[1]}, nil
		}},
		{Name: "throw", Arity: 1, Call: func(_ context.Context, _ any, args []any) (any, error) {
			return nil, Thrown(errThrown, &wire.Error{Message: "text", Data: Encode(args[0])})
		}},
		{Name: "huge", Call: func(context.Context, any, []any) (any, error) {
			return nil, Thrown(errThrown, &wire.Error{Message: "text", Data: []byte(strings.Repeat("1", maxDigits+1))})
		}},
		{Name: "block", Call: func(ctx context.Context, _ any, _ []any) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	}}
	p := compiled(t, `.x | add2(1, 2; "b"), (try throw({a:1}) catch .data.a), (try huge catch .), (. as $__rpcx_run | add2(3;4))`, o)
	ctx := context.WithValue(t.Context(), keyType{}, "run")
	got, err := run(ctx, p, `{"x":0}`)
	if want := "[\"run\",0,1,\"b\"]\n[\"run\",0,2,\"b\"]\n1\n\"text\"\n[\"run\",0,3,4]"; got != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := outputs(t, o, `throw(1)`, `0`); !errors.Is(err, errThrown) {
		t.Errorf("the function's own error is lost: %v", err)
	}
	if _, err := outputs(t, o, `__rpcx_throw_1({}; 1)`, `0`); err == nil {
		t.Error("a function was called without a run")
	}
	p, _ = Compile(`block`, o)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := run(ctx, p, `0`); !errors.Is(err, context.DeadlineExceeded) || wire.AsFault(err) != nil {
		t.Errorf("a function that waits: %v", err)
	}
}

func TestEndlessLoopEndsWithContext(t *testing.T) {
	p := compiled(t, `[repeat(1)]`, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := run(ctx, p, `0`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestYieldStops(t *testing.T) {
	p := compiled(t, `1, 2, error("no")`, Options{})
	n, stop := 0, errors.New("stop")
	for _, want := range []error{nil, stop} {
		n = 0
		err := p.Run(t.Context(), json.RawMessage(`0`), func(json.RawMessage) (bool, error) { n++; return false, want })
		if n != 1 || err != want {
			t.Errorf("%d outputs, %v", n, err)
		}
	}
}

func benchmarkRun(b *testing.B, src, in string) {
	p := compiled(b, src, Options{})
	msg := json.RawMessage(in)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Run(b.Context(), msg, func(json.RawMessage) (bool, error) { return true, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// head is a block header as an Ethereum node sends it to subscribers.
var head = `{"subscription":"0x9cef478923ff08bf67fde6c64013158d","result":{"baseFeePerGas":"0x7","difficulty":"0x0","extraData":"0xd883010d05846765746888676f312e32312e31856c696e7578","gasLimit":"0x1c9c380","gasUsed":"0xb4e0d3","hash":"0x0f1e7e0a7d8f4e7b5a4f5bb7f1a4c0dd8b8fca5e45ff2b4e0cdb4f95a4ad5c3e","logsBloom":"0x` + strings.Repeat("0", 512) + `","miner":"0x388c818ca8b9251b393131c08a736a67ccb19297","mixHash":"0xb7d1a3e4c5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90","nonce":"0x0000000000000000","number":"0x112a880","parentHash":"0xa1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90","receiptsRoot":"0xc3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2","stateRoot":"0xe5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4","timestamp":"0x6550d5a3","transactionsRoot":"0x0718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6"}}`

func BenchmarkPath(b *testing.B)     { benchmarkRun(b, `.result`, head) }
func BenchmarkLongPath(b *testing.B) { benchmarkRun(b, `.result.hash`, head) }
func BenchmarkSelect(b *testing.B) {
	benchmarkRun(b, `select(.result.miner != "0x0") | {n: .result.number, hash: .result.hash}`, head)
}
