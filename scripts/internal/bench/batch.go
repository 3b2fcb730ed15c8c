package main

import (
	"fmt"
	"strconv"
)

// batchRows measure call --batch with several numbers of concurrent calls, which take as little time as possible.
func batchRows() []row {
	var all []row
	for _, b := range []struct {
		jobs int
		goal float64
		n    size
	}{
		{1, 1.2, size{100_000, 20_000}},
		{8, 1.3, size{300_000, 50_000}},
		{64, 1.25, size{500_000, 100_000}},
		{512, 1.6, size{500_000, 100_000}},
	} {
		all = append(all, row{
			name: fmt.Sprintf("batch-%d", b.jobs),
			what: fmt.Sprintf("`call --batch`, %d in flight", b.jobs),
			unit: cpuPerCall, goal: goal{b.goal, isTuned}, n: b.n, runs: size{9, 5},
			clients: func(l *lab, n int) ([]client, error) {
				requests, err := l.requests(n)
				if err != nil {
					return nil, err
				}
				rpcx := l.rpcx("call", l.ws, "--batch", "--jobs", strconv.Itoa(b.jobs))
				rpcx.stdin = requests
				bulk := []string{"bulk", l.ws, strconv.Itoa(n), strconv.Itoa(b.jobs)}
				return []client{
					{"rpcx", rpcx},
					{isRaw, job{args: append([]string{l.at("raw")}, bulk...)}},
					{isTuned, job{args: append([]string{l.at("tuned")}, bulk...)}},
				}, nil
			},
		})
	}
	return all
}
