// Command bench compares rpcx with the least that could do the same, as ratios
// from runs that take turns: start-up, one call, many calls, a stream, a session.
//
//	scripts/bench [--quick]
//
// The figures of one machine and one hour say little; the ratios carry over.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sizes are how much is done.
type sizes struct {
	startups int // runs of each program
	calls    int // runs of each program
	bulkRuns int
	bulk     int // calls in a run
	streams  int
	stream   int // messages in a run
}

var (
	whole = sizes{startups: 100, calls: 60, bulkRuns: 9, bulk: 50_000, streams: 9, stream: 1_000_000}
	quick = sizes{startups: 15, calls: 10, bulkRuns: 3, bulk: 10_000, streams: 3, stream: 100_000}
)

// messageSize is that of a stream's messages, in bytes.
const messageSize = 240

func main() {
	size := whole
	switch {
	case len(os.Args) == 2 && os.Args[1] == "--quick":
		size = quick
	case len(os.Args) > 1:
		fmt.Fprintln(os.Stderr, "usage: scripts/bench [--quick]")
		os.Exit(2)
	}
	dir, err := os.MkdirTemp("", "rpcx-bench-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = bench(dir, size)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

func bench(dir string, size sizes) error {
	bin, err := build(dir)
	if err != nil {
		return err
	}
	far, err := listen(bin("server"), filepath.Join(dir, "s"))
	if err != nil {
		return err
	}
	defer far.stop()
	if err := far.verify(bin("rpcx"), dir); err != nil {
		return err
	}
	requests := filepath.Join(dir, "requests")
	if err := writeRequests(requests, size.bulk); err != nil {
		return err
	}
	n, bulk := strconv.Itoa(size.stream), strconv.Itoa(size.bulk)
	tenth := strconv.Itoa(size.stream / 10)

	fmt.Printf("%d B a message; medians of runs that take turns; CPU is user and system time of the whole process\n\n", messageSize)
	var t table
	err = t.measure(size.startups, msPerRun,
		program{"start-up: rpcx --version", job{args: []string{bin("rpcx"), "--version"}}},
		program{"a binary that links the four libraries", job{args: []string{bin("linked")}}},
		program{"Go hello", job{args: []string{bin("hello")}}})
	for _, url := range []string{far.ws, far.unix} {
		if err != nil {
			return err
		}
		scheme, _, _ := strings.Cut(url, ":")
		err = t.measure(size.calls, msPerRun,
			program{"one call over " + scheme, job{args: []string{bin("rpcx"), "call", url, "echo", "[1]"}}},
			program{"raw client", job{args: []string{bin("raw"), "call", url}}})
	}
	if err != nil {
		return err
	}
	err = t.measure(size.bulkRuns, usPer("call", size.bulk),
		program{"call --batch --jobs 64 over ws", job{
			stdin: requests,
			args:  []string{bin("rpcx"), "call", far.ws, "--batch", "--jobs", "64"},
		}},
		program{"raw client, 64 in flight", job{args: []string{bin("raw"), "bulk", far.ws, bulk, "64"}}})
	if err != nil {
		return err
	}
	err = t.measure(size.streams, usPer("message", size.stream),
		program{"subscribe over ws, passed through", job{
			args: []string{bin("rpcx"), "subscribe", far.ws, "ticks", "[" + n + "]", "--count", n},
		}},
		program{"raw loop, a reused buffer, no JSON, no output", job{args: []string{bin("raw"), "stream", far.ws, n}}})
	if err != nil {
		return err
	}
	if err := sessions(&t, bin("rpcx"), dir, far.ws, size.calls); err != nil {
		return err
	}
	if err := plugin(&t, bin("rpcx"), dir, min(size.bulkRuns, 5)); err != nil {
		return err
	}
	if err := tapes(&t, bin, dir, far, size); err != nil {
		return err
	}
	if err := pages(&t, bin("rpcx"), dir, requests, far, size); err != nil {
		return err
	}
	t.print()
	fmt.Print(tapeNote)
	if err := memory(bin("rpcx"), far.ws, tenth, n, min(size.streams, 3)); err != nil {
		return err
	}
	return pluginMemory(bin("rpcx"), dir, 3)
}

// build makes all programs and returns where they are.
func build(dir string) (func(name string) string, error) {
	at := func(name string) string { return filepath.Join(dir, name) }
	cmds := [][]string{{"scripts/build", at("rpcx")}}
	if built := os.Getenv("RPCX"); built != "" {
		cmds[0] = []string{"cp", built, at("rpcx")}
	}
	for _, name := range []string{"hello", "linked", "raw", "server"} {
		cmds = append(cmds, []string{
			"go", "build", "-tags", "urfave_cli_no_template", "-trimpath", "-ldflags", "-s -w",
			"-o", at(name), "./scripts/internal/bench/" + name,
		})
	}
	for _, words := range cmds {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
		}
	}
	return at, nil
}

// writeRequests writes n lines for --batch.
func writeRequests(name string, n int) error {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"method":"echo","params":[%d]}`+"\n", i+1)
	}
	return os.WriteFile(name, []byte(b.String()), 0o600)
}

// memory says what ten times as many messages cost.
func memory(rpcx, url, few, many string, runs int) error {
	peak := func(n string) (int64, error) {
		var all []int64
		for range runs {
			s, err := (job{args: []string{rpcx, "subscribe", url, "ticks", "[" + n + "]", "--count", n}}).run()
			if err != nil {
				return 0, err
			}
			all = append(all, s.rss)
		}
		return median(all), nil
	}
	a, err := peak(few)
	if err != nil {
		return err
	}
	b, err := peak(many)
	if err != nil {
		return err
	}
	if a > 0 {
		fmt.Printf("\nPeak memory of subscribe: %.1f MB after %s messages, %.1f MB after %s (%.2f times as much).\n",
			float64(a)/1e6, few, float64(b)/1e6, many, float64(b)/float64(a))
	}
	return nil
}

func msPerRun(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1e3) }

func usPer(what string, n int) func(time.Duration) string {
	return func(d time.Duration) string {
		return fmt.Sprintf("%.2f µs a %s", float64(d.Nanoseconds())/1e3/float64(n), what)
	}
}
