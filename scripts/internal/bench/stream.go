package main

import "fmt"

// streamSizes has the message sizes of streams, and the goal for a command that forwards messages.
var streamSizes = []struct {
	size int
	goal float64
	n    size
}{
	{216, 1.6, size{1_000_000, 300_000}},
	{2 << 10, 4.5, size{300_000, 50_000}},
	{20 << 10, 6.4, size{50_000, 5_000}},
}

// chosen is a typical program: it selects events and builds objects.
const chosen = "select(.number > 100) | {n: .number, price}"

// streamRows measure one subscription whose events are printed as they arrive, or filtered.
func streamRows() []row {
	var all []row
	for _, s := range streamSizes {
		all = append(all, streamRow("stream", "", s.size, s.n, s.goal))
	}
	for _, s := range streamSizes {
		all = append(all, streamRow("path", " -q .text", s.size, s.n, s.goal, "-q", ".text"))
	}
	for _, s := range streamSizes {
		all = append(all, streamRow("raw", " --messages", s.size, s.n, s.goal, "--messages"))
	}
	return append(all,
		streamRow("select", " -q 'select(…) | {…}'", 216, streamSizes[0].n, 5.3, "-q", chosen),
		streamRow("select", " -q 'select(…) | {…}'", 2<<10, streamSizes[1].n, 6.5, "-q", chosen),
		filterRow("filter", unit{Of: "µs an event", per: true}, 0.75),
		filterRow("filter-cpu", cpuPerEvent, 1.1),
		collectorRow(216, streamSizes[0].n),
		collectorRow(216, size{300_000, 50_000}, "-q", ".number + 1"),
		collectorRow(2<<10, size{30_000, 5_000}, "-q", computed))
}

// collectorRow measures a subscription with other settings of the garbage collector. --json prints the memory of each.
func collectorRow(bytes int, n size, flags ...string) row {
	name, what := "gogc", ""
	if len(flags) > 0 {
		name, what = "gogc-filter", " -q …"
	}
	return row{
		name: fmt.Sprintf("%s-%d", name, bytes),
		what: fmt.Sprintf("`subscribe --method%s`, %d B, by GOGC", what, bytes),
		unit: cpuPerEvent, n: n, runs: size{9, 5},
		clients: func(l *lab, n int) ([]client, error) {
			args := []string{"subscribe", l.ws, "ticks", fmt.Sprintf("[%d,%d]", n, bytes), "--method", "ticks", "--count", fmt.Sprint(n)}
			all := []client{{"rpcx", l.rpcx(append(args, flags...)...)}}
			for _, target := range []string{"200", "400"} {
				j := all[0].job
				j.env = []string{"GOGC=" + target}
				all = append(all, client{target, j})
			}
			return all, nil
		},
	}
}

// computed is a program for which gojq is needed.
const computed = ".text | explode | add"

// filterRow measures a subscription whose events arrive faster than they can be filtered, on all cores and on one.
func filterRow(name string, u unit, ratio float64) row {
	return row{
		name: name + "-2048",
		what: "`subscribe --method -q`, a program that computes, 2048 B",
		unit: u, goal: goal{ratio, "one core"}, n: size{30_000, 5_000}, runs: size{9, 5},
		clients: func(l *lab, n int) ([]client, error) {
			all := l.rpcx("subscribe", l.ws, "ticks", fmt.Sprintf("[%d,2048]", n), "--method", "ticks", "--count", fmt.Sprint(n), "-q", computed)
			one := all
			one.env = []string{"GOMAXPROCS=1"}
			return []client{{"rpcx", all}, {"one core", one}}, nil
		},
	}
}

// streamRow measures a subscription with messages of the given size and additional flags.
func streamRow(name, what string, bytes int, n size, ratio float64, flags ...string) row {
	return row{
		name: fmt.Sprintf("%s-%d", name, bytes),
		what: fmt.Sprintf("`subscribe --method%s`, %d B", what, bytes),
		unit: cpuPerEvent, goal: goal{ratio, isTuned}, n: n, runs: size{9, 5},
		clients: func(l *lab, n int) ([]client, error) {
			items := []string{l.ws, fmt.Sprint(n), fmt.Sprint(bytes)}
			args := []string{"subscribe", l.ws, "ticks", fmt.Sprintf("[%d,%d]", n, bytes), "--method", "ticks", "--count", fmt.Sprint(n)}
			return []client{
				{"rpcx", l.rpcx(append(args, flags...)...)},
				{isRaw, job{args: append([]string{l.at("raw"), "stream"}, items...)}},
				{isTuned, job{args: append([]string{l.at("tuned"), "stream"}, items...)}},
			}, nil
		},
	}
}
