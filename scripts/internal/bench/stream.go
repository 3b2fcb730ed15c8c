package main

import "fmt"

// streamRows are one subscription whose events are printed as they come.
func streamRows() []row {
	var all []row
	for _, s := range []struct {
		size int
		goal float64
		n    size
	}{
		{216, 1.6, size{1_000_000, 300_000}},
		{2 << 10, 4.5, size{300_000, 50_000}},
		{20 << 10, 6.4, size{50_000, 5_000}},
	} {
		all = append(all, row{
			name: fmt.Sprintf("stream-%d", s.size),
			what: fmt.Sprintf("`subscribe --method`, %d B", s.size),
			unit: cpuPerEvent, goal: goal{s.goal, isTuned}, n: s.n, runs: size{9, 5},
			clients: func(l *lab, n int) ([]client, error) {
				items := []string{l.ws, fmt.Sprint(n), fmt.Sprint(s.size)}
				return []client{
					{"rpcx", l.rpcx("subscribe", l.ws, "ticks", fmt.Sprintf("[%d,%d]", n, s.size), "--method", "ticks", "--count", fmt.Sprint(n))},
					{isRaw, job{args: append([]string{l.at("raw"), "stream"}, items...)}},
					{isTuned, job{args: append([]string{l.at("tuned"), "stream"}, items...)}},
				}, nil
			},
		})
	}
	return all
}
