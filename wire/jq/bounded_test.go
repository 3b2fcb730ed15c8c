package jq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rpcx/wire/testkit"
)

func foreign(t testing.TB, src string) *Program {
	return compiled(t, src, Options{Foreign: true})
}

func printedWithin(ctx context.Context, p *Program, limit time.Duration, in string) (string, error) {
	return Bounded(ctx, p, limit, json.RawMessage(in), func(ctx context.Context, in json.RawMessage) (string, error) {
		var all []string
		err := p.Run(ctx, in, func(out json.RawMessage) (bool, error) {
			all = append(all, string(out))
			return len(all) < 100, nil
		})
		return strings.Join(all, "\n"), err
	})
}

// most measures the memory in use until the returned function is called, which returns the maximum.
func most() func() int64 {
	var top atomic.Int64
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			top.Store(max(top.Load(), inUse()))
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-ended
		return top.Load()
	}
}

// Programs that create much data from little input are refused or end at their time limit.
func TestForeignProgramsAreBounded(t *testing.T) {
	if testkit.Race {
		t.Skip("memory is measured without the race detector")
	}
	for _, src := range []string{
		`reduce range(60) as $i ("xxxxxxxxxx"; . + .)`,
		`reduce range(60) as $i ("xxxxxxxxxx"; "\(.)\(.)")`,
		`reduce range(60) as $i ("xxxxxxxxxx"; @json "\(.)\(.)")`,
		`reduce range(60) as $i ("xxxxxxxxxx"; . as $x | . += $x)`,
		`reduce range(60) as $i ({a: "xxxxxxxxxx"}; .a += .a)`,
		`reduce range(60) as $i ("xxxxxxxxxx"; [., .] | add)`,
		`reduce range(60) as $i ("xxxxxxxxxx"; add(., .))`,
		`reduce range(60) as $i ("xxxxxxxxxx"; [., .] | join(""))`,
		`reduce range(60) as $i ("xxxxxxxxxx"; gsub("x"; "xx"))`,
		`reduce range(60) as $i ("xxxxxxxxxx"; . * 2)`,
		`reduce range(60) as $i ("\""; tojson)`,
		`reduce range(60) as $i ("\""; @json)`,
		`reduce range(60) as $i ([1]; . + .)`,
		`reduce range(60) as $i ([1]; . as $x | . += $x)`,
		`reduce range(60) as $i ([1]; [.[], .[]])`,
		`reduce range(60) as $i ([1]; [., .]) | tojson`,
		`reduce range(60) as $i ([1]; [., .]) | tostring`,
		`reduce range(60) as $i ([1]; [., .]) | flatten`,
		`reduce range(60) as $i ([1]; [., .]) | "\(.)"`,
		`reduce range(60) as $i ([1]; [., .]) | @text`,
		`reduce range(60) as $i ([1]; [., .]) | {(tojson): 1}`,
		`reduce range(60) as $i ([1]; [., .])`,
		`reduce range(60) as $i ([1]; [., .]) | error`,
		`reduce range(60) as $i ([1]; [., .]) | halt_error`,
		`reduce range(60) as $i ([1]; [., .]) | [paths]`,
		`reduce range(60) as $i ([1]; [., .]) | . as $x | reduce range(60) as $i ([1]; [., .]) | . == $x`,
		`reduce range(60) as $i ([1]; [., .]) | [., .] | sort`,
		`reduce range(60) as $i ([1]; [., .]) | [., .] | unique`,
		`reduce range(60) as $i ([1]; [., .]) | [., .] | group_by(.)`,
		`reduce range(60) as $i ([1]; [., .]) | [., .] - [.]`,
		`reduce range(60) as $i ([1]; [., .]) | [., [.]] | index([[.]])`,
		`reduce range(60) as $i ([1]; [., .]) | contains(.)`,
		`reduce range(60) as $i ([1]; [., .]) | [., .] | max`,
		`reduce range(60) as $i (10; . * .)`,
		`"x" * 2000000000`,
		`["x" * 60000000 | ., ., .] | map(. + "x")`,
		`[range(1000) as $i | "x" * 60000000]`,
		`"x" * 60000000 | explode`,
		`"x" * 60000000 | . / ""`,
		`"x" * 60000000 | split("")`,
		`"x" * 60000000 | [match("";"g")]`,
		`"x" * 60000000 | [scan("")]`,
		`"[" + ("1," * 25000000) + "1]" | fromjson`,
		`null | .[500000000] = 1`,
		`null | .[500000000] |= 1`,
		`null | .[500000000] += 1`,
		`500000000 as $n | null | .[$n] = 1`,
		`null | setpath([500000000]; 1)`,
		`null | getpath([500000000]) = 1`,
		`def f: .[500000000]; null | f = 1`,
		`null | .[400000000:500000000] = [1]`,
		`fromstream([[500000000], 1], [[500000000]])`,
		`null | pick(.[500000000])`,
		`[[range(100000)]] + [range(100000) | []] | transpose`,
		`[range(1e9)]`,
		`[limit(1e9; repeat("x"))]`,
		`def f: [f]; f`,
		`def f: f; f`,
		`def f: 1 + f; f`,
		`[range(30)] | [combinations(20)]`,
		`reduce range(1e9) as $i ({}; .[$i | tostring] = $i)`,
		`[range(100000)] as $a | [range(100000) as $i | $a | .[$i] = 0]`,
		`[range(300000)] as $a | [range(100000) as $i | $a | reverse]`,
		`"x" * 1000000 | [range(100000) as $i | $__loc__, . + "\($i)"]`,
		`[range(1000000)] | [range(100000) as $i | to_entries]`,
		`[range(1000000)] | [., ., .] | [recurse]`,
		`until(false; [.])`,
		`"x" * 900000 | [range(1000) as $i | ascii_upcase]`,
		`"x" * 60000000 | [range(1000) as $i | ascii_upcase]`,
		`"x" * 60000000 | [range(1000) as $i | @base64]`,
		`"x" * 60000000 | [range(1000) as $i | explode]`,
	} {
		src = strings.ReplaceAll(src, "$__loc__, ", "")
		p := foreign(t, src)
		began, before, top := time.Now(), inUse(), most()
		out, err := printedWithin(context.Background(), p, 100*time.Millisecond, "null")
		took, used := time.Since(began), top()-before
		if err == nil {
			t.Errorf("%s: not refused: %.60s", src, out)
		}
		if took > 3*time.Second || used > 700<<20 {
			t.Errorf("%s: %v, %d MiB (%v)", src, took, used>>20, err)
		}
	}
}

// A run ends when the command's context ends, and its steps and memory are bounded.
func TestForeignProgramsEnd(t *testing.T) {
	if _, err := printedWithin(context.Background(), foreign(t, `last(range(1e12))`), time.Hour, "null"); !errors.Is(err, ErrSteps) {
		t.Errorf("steps are not bounded: %v", err)
	}
	if _, err := printedWithin(context.Background(), foreign(t, `"x" * 1000000 | [range(600) as $i | . + "\($i)"] | length`), time.Minute, "null"); !errors.Is(err, ErrMemory) {
		t.Errorf("600 MB in small steps are not refused: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	for _, src := range []string{`def f: f; f`, `"a" * 20000 | [match("a"; "g")] | length`} {
		began := time.Now()
		if _, err := printedWithin(ctx, foreign(t, src), time.Minute, "null"); !errors.Is(err, context.Canceled) || time.Since(began) > 3*time.Second {
			t.Errorf("%s: %v after %v", src, err, time.Since(began))
		}
	}
}

// A program's functions can pass their context to goroutines that outlive the run.
func TestFunctionsOfForeignPrograms(t *testing.T) {
	p, err := Compile(`[range(50) | later] | length`, Options{Foreign: true, Funcs: []Func{{Name: "later", Call: func(ctx context.Context, _ any, _ []any) (any, error) {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("the run's limit does not bound the call")
		}
		_, cancel := context.WithCancel(ctx)
		go cancel()
		return nil, nil
	}}}})
	testkit.OK(t, err)
	for range 200 {
		if got, err := printedWithin(context.Background(), p, time.Minute, "null"); err != nil || got != "50" {
			t.Fatalf("%s, %v", got, err)
		}
	}
}

// The number of runs that continue after their time limit is bounded.
func TestLeftBehind(t *testing.T) {
	letters := 20_000
	if testkit.Race { // which takes several times longer; scripts/check also runs this test without the race detector
		letters = 5_000
	}
	slow := foreign(t, fmt.Sprintf(`"a" * %d | [match("a"; "g")] | length`, letters))
	for range 2 * maxDetachedRuns {
		if _, err := printedWithin(context.Background(), slow, time.Millisecond, "null"); err == nil {
			t.Fatal("the program ended within its limit")
		}
	}
	if n := detachedRuns.Load(); n > maxDetachedRuns {
		t.Errorf("%d runs continue after their limit", n)
	}
	testkit.Until(t, "all have ended", func() bool { return detachedRuns.Load() == 0 })
	if got, err := printedWithin(context.Background(), foreign(t, `"aXb" | sub("X"; "-")`), time.Second, "null"); err != nil || got != `"a-b"` {
		t.Errorf("%s, %v", got, err)
	}
}

var guardedPrograms = []string{
	`.a + .b`, `def f: .a; f + f`, `def f(x): x * 2; if f(3) == f(.b) then f(1) - f(.b) else f(2) end`, `.a += 1`, `.a *= 2`, `.a -= 1`, `.a /= 2`, `"\(.a)-\(.b)"`, `@html "<\(.a)>\(.b)"`, `@json "x\(.a)y"`, `@base64`, `{("\(.a)"): 1}`, `{"k\(.b)": .a}`,
	`[.a, .b] | add`, `[.[]?] | join(",")`, `tojson | fromjson`, `[1, [2, [3]]] | flatten(1)`, `(1, 2) + (10, 20)`, `(1, 2) * (10, 20)`, `[(1, 2) == (1, 2)]`,
	`.a[1:] | .[0]`, `.[.b | tostring]`, `.a[0]?`, `path(.a[0]?)`, `[paths(type == "number")]`, `path(.. | select(tostring == "1"))`, `.a |= tostring`, `to_entries | map(.key + "x") | add`,
	`try ({} + 1) catch .`, `try ([] * {}) catch .`, `"a,b" / ","`, `"a,b" | split(",")`, `"aXbX" | gsub("X"; "-")`, `[1, 2] - [2]`, `[[1], [2]] | transpose`, `"abc" * 3`, `{a: {b: 1}} * {a: {c: 2}}`,
	`def f(x): x + x; f(.b)`, `. as {$a, "b": $z} | $a == $z`, `.a as [$x] | [$x, $x] | add`, `reduce .[]? as $x (0; . + 1)`, `setpath(["q", 2]; 1)`, `getpath(["a", 0])?`, `.q[2] = 1`, `.q[1:3] = [1]`,
	`with_entries(.value |= tostring)`, `def add: 7; [1] | add`, `[.[]?] | index(1)`, `"abcb" | [indices("b")]`, `input`, `[.[]?] | sort | unique | min`, `label $f | 1 + 1, break $f`, `if .a == .b then 1 + .b else 2 end`,
	`"\("a" + "b")"`, `"\("x\(1)")y"`, `.["a\(1)"]?`, `[limit(2; .[]? == 1)]`, `-(.b) + 1`, `.b // 1 + 2`, `[.a[]?] as [$x, $y] | "\($x)\($y)"`, `. == {} or 1 < 2`, `error("a\(1)")`, `{"a\(1)"}`, `{"\("b")"}?`, `{"\("a", "b")"}?`, `{"a\(1)": 2}`, `{a: (1 + 2), "b": 3 * 4}`,
}

// The bounds do not change the results of programs that need little memory.
func TestGuardsChangeNothing(t *testing.T) {
	for _, src := range slices.Concat(paths, guardedPrograms) {
		p, err := Compile(src, Options{})
		q, guarded := Compile(src, Options{Foreign: true})
		if fmt.Sprint(err) != fmt.Sprint(guarded) {
			t.Errorf("%s: %v, guarded %v", src, err, guarded)
		}
		if err != nil || guarded != nil {
			continue
		}
		for _, in := range []string{`null`, `{"a":[1,2],"b":3}`, `{"a":"x","b":"y"}`, `[1,[2],{"a":1}]`, `{"a":{"b":{"c":1}},"b":1.50}`, `"text"`, `12345678901234567890`} {
			want, err1 := printedWithin(context.Background(), p, time.Second, in)
			got, err2 := printedWithin(context.Background(), q, time.Second, in)
			if got != want || fmt.Sprint(err1) != fmt.Sprint(err2) {
				t.Errorf("%s of %s: %s, %v, guarded %s, %v", src, in, want, err1, got, err2)
			}
		}
	}
}

// Any program ends in time and needs little memory.
func FuzzForeign(f *testing.F) {
	for _, src := range guardedPrograms {
		f.Add(src)
	}
	f.Add(`reduce range(60) as $i ([1]; [., .]) | tojson`)
	f.Fuzz(func(t *testing.T, src string) {
		p, err := Compile(src, Options{Foreign: true})
		if err != nil {
			return
		}
		began, before := time.Now(), inUse()
		_, err = printedWithin(context.Background(), p, 50*time.Millisecond, `{"a":[1,2],"b":"x"}`)
		if took, used := time.Since(began), inUse()-before; took > 5*time.Second || used > 1<<30 {
			t.Errorf("%s: %v, %d MiB (%v)", src, took, used>>20, err)
		}
	})
}
