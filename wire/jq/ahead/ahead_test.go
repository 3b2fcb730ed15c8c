package ahead

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"rpcx/wire/jq"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onCores sets the number of cores for a test.
func onCores(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func compiled(t *testing.T, src string) *jq.Program {
	t.Helper()
	p, err := jq.Compile(src, jq.Options{})
	testkit.OK(t, err)
	if !p.RunsAhead() {
		t.Fatalf("%s is not for workers", src)
	}
	return p
}

func start(t *testing.T, p *jq.Program, ins [][]byte) *Block {
	b := Start(t.Context(), p, len(ins), func(i int) []byte { return ins[i] })
	t.Cleanup(b.End)
	return b
}

// read returns the outputs for ins up to the first error. b can be nil.
func read(ctx context.Context, b *Block, p *jq.Program, ins [][]byte) string {
	var seen strings.Builder
	for i, in := range ins {
		yield := func(out json.RawMessage) (bool, error) {
			fmt.Fprintf(&seen, "%s\n", out)
			return true, nil
		}
		ok, err := false, error(nil)
		if b != nil {
			ok, err = b.Run(i, in, yield)
		}
		if !ok {
			err = p.Run(ctx, in, yield)
		}
		if err != nil {
			fmt.Fprintf(&seen, "%d: %v\n", i, err)
			break
		}
	}
	return seen.String()
}

// awaitWorkers waits until the workers have finished the second input and have no more to start.
func awaitWorkers(b *Block) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = 1
	for b.begun > 1 || !b.results[1].done {
		b.changed.Wait()
	}
}

// Workers change neither the bytes nor the error that a reader gets.
func TestAnyProgramHasTheSameOutput(t *testing.T) {
	onCores(t, 5)
	errors, programs := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		src := program(r, 2)
		p, err := jq.Compile(src, jq.Options{})
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if !p.RunsAhead() {
			continue
		}
		programs++
		ins := make([][]byte, 1+r.IntN(40))
		for i := range ins {
			ins[i] = []byte(value(r, 2))
		}
		want := read(t.Context(), nil, p, ins)
		if strings.Contains(want, "jq: ") {
			errors++
		}
		for _, ready := range []bool{false, true} {
			b := start(t, p, ins)
			if ready && len(ins) > 1 {
				awaitWorkers(b)
			}
			if got := read(t.Context(), b, p, ins); got != want {
				t.Fatalf("seed %d: %s:\n got %s\nwant %s", seed, src, got, want)
			}
			b.End()
		}
	}
	if programs < 200 || errors < 50 {
		t.Errorf("only %d programs, %d of which failed", programs, errors)
	}
}

func program(r *rand.Rand, depth int) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	if depth == 0 {
		return pick(".", ".a", ".b", ".[0]?", ".a.b", "length", "keys", "tostring", "tojson", "1", `"x"`, ".a + .b", "[.[]?]", "add", "ascii_upcase?", "$ENV | type", "halt", "error", `error("no")`, "empty", "..")
	}
	inner := func() string { return program(r, r.IntN(depth)) }
	return pick("["+inner()+"]", "{a: "+inner()+", z: .b}", "("+inner()+" | "+inner()+")", "("+inner()+", "+inner()+")", "try ("+inner()+") catch .",
		"reduce ("+inner()+") as $x (null; [$x])", "first("+inner()+")", "limit(2; "+inner()+")", "(label $f | ("+inner()+", break $f))",
		"(if "+inner()+" then "+inner()+" else "+inner()+" end)", "(.a |= "+inner()+")?", "[paths] + ["+inner()+"]", "(def f: "+inner()+"; [f])")
}

func value(r *rand.Rand, depth int) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	if depth == 0 || r.IntN(5) == 0 {
		return pick("null", "true", "0", "-1.50", "12345678901234567890", `"x"`, `"é\n"`, "[]", "{}", "1e400", `{"z":1,"a":2}`)
	}
	var parts []string
	for range r.IntN(4) {
		parts = append(parts, value(r, depth-1))
	}
	if r.IntN(3) == 0 {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for i := range parts {
		parts[i] = pick(`"b":`, `"a":`, `"c" : `) + parts[i]
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// An input that takes forever delays neither the outputs of earlier inputs nor the end of the reader.
func TestAnInputThatTakesForEver(t *testing.T) {
	onCores(t, 3)
	p := compiled(t, `if . == 9 then last(repeat(.)) else "v\(.)" | ascii_upcase end`)
	ins := make([][]byte, 40)
	for i := range ins {
		ins[i] = fmt.Append(nil, i)
	}
	b := start(t, p, ins)
	want := "\"V0\"\n\"V1\"\n\"V2\"\n\"V3\"\n\"V4\"\n\"V5\"\n\"V6\"\n\"V7\"\n\"V8\"\n"
	if got := read(t.Context(), b, p, ins[:9]); got != want {
		t.Errorf("got %q", got)
	}
	b.End()
}

// A bounded number of outputs waits for the reader. The outputs of an input that takes forever arrive while it runs.
func TestOutputsAreBounded(t *testing.T) {
	onCores(t, 3)
	p := compiled(t, `repeat("`+strings.Repeat("x", 999)+`" | ascii_upcase)`)
	synctest.Test(t, func(t *testing.T) {
		ins := [][]byte{[]byte("1"), []byte("2"), []byte("3")}
		ctx, cancel := context.WithCancel(t.Context())
		b := Start(ctx, p, len(ins), func(i int) []byte { return ins[i] })
		defer b.End()
		synctest.Wait()
		seen, most := 0, b.kept
		ok, err := b.Run(b.begun, ins[b.begun], func(json.RawMessage) (bool, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			most = max(most, b.kept)
			seen++
			return seen < 10_000, nil
		})
		if !ok || err != nil || seen != 10_000 {
			t.Errorf("%v, %v after %d outputs", ok, err, seen)
		}
		if most < maxKept/2 || most > maxKept+atOnce+1001 {
			t.Errorf("%d bytes waited", most)
		}
		if ok, err := b.Run(2, ins[2], func(json.RawMessage) (bool, error) { return true, io.ErrClosedPipe }); !ok || err != io.ErrClosedPipe {
			t.Errorf("%v, %v after a failed output", ok, err)
		}
		synctest.Wait()
		cancel()
		if ok, err := b.Run(2, ins[2], func(json.RawMessage) (bool, error) { return true, nil }); !ok || err != context.Canceled {
			t.Errorf("%v, %v after the end of the context", ok, err)
		}
	})
}

// When the reader's context ends, a run ends with its error, even if outputs are waiting.
func TestTheEndOfTheContext(t *testing.T) {
	onCores(t, 2)
	for _, src := range []string{`repeat("x" | ascii_upcase)`, `last(repeat("x"))`} {
		p := compiled(t, src)
		ins := [][]byte{[]byte("1"), []byte("2")}
		ctx, cancel := context.WithCancel(t.Context())
		taken := make(chan struct{}, len(ins))
		b := Start(ctx, p, len(ins), func(i int) []byte {
			taken <- struct{}{}
			return ins[i]
		})
		<-taken
		cancel()
		ok, err := b.Run(1, ins[1], func(json.RawMessage) (bool, error) { return true, nil })
		if !ok || err != context.Canceled {
			t.Errorf("%s: %v, %v", src, ok, err)
		}
		b.End()
	}
}

// A worker's result for another line is not used.
func TestAnotherLine(t *testing.T) {
	onCores(t, 2)
	p := compiled(t, ". + 1")
	ins := [][]byte{[]byte("1"), []byte("3"), nil, []byte("4")}
	b := start(t, p, ins)
	awaitWorkers(b)
	other := []byte("3")
	for i, in := range [][]byte{other, other, []byte("2"), other} { // a worker may have started the first one
		if ok, err := b.Run(i, in, nil); ok || err != nil {
			t.Errorf("%d: %v, %v", i, ok, err)
		}
	}
	b.End()
}

// Workers are not used for a program that is short or has visible effects.
func TestForeseeable(t *testing.T) {
	for src, want := range map[string]bool{
		`.a + 1`: true, `.a | ascii_upcase`: true, `.a`: false, `select(.a > 1) | {b}`: false,
		`.a + 1 | debug`: false, `.a + 1 | stderr`: false, `now`: false, `.a + 1 | debug("x")`: false, `.a + 1 | .known`: true,
	} {
		p, err := jq.Compile(src, jq.Options{})
		testkit.OK(t, err)
		if p.RunsAhead() != want {
			t.Errorf("%s: %v", src, !want)
		}
	}
}
