package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// latencyRows measure the time from the server's write of an event until the end of a pipe receives it.
func latencyRows() []row {
	var all []row
	for _, what := range []struct {
		name, said string
		burst      int
	}{
		{"steady", "1,000 events a second", 1},
		{"bursts", "bursts of 50 events", 50},
	} {
		for _, part := range []struct {
			name string
			of   float64
		}{{"p50", 0.5}, {"p99", 0.99}} {
			all = append(all, row{
				name: "latency-" + what.name + "-" + part.name,
				what: fmt.Sprintf("`subscribe --method`, %s, %s", what.said, part.name),
				unit: unit{Of: "µs from write to pipe", late: part.of}, n: size{3000, 300}, runs: size{7, 3},
				clients: func(l *lab, n int) ([]client, error) {
					rpcx := l.rpcx("subscribe", l.ws, "bursts", fmt.Sprintf("[%d,%d]", n, what.burst), "--method", "ticks", "--count", fmt.Sprint(n))
					tuned := job{args: []string{l.at("tuned"), "print", l.ws, fmt.Sprint(n), fmt.Sprint(what.burst)}}
					rpcx.times, tuned.times = true, true
					return []client{{"rpcx", rpcx}, {isTuned, tuned}}, nil
				},
			})
		}
	}
	return all
}

// lateness reads lines that contain the time of their write, and measures the delays.
type lateness struct {
	found []time.Duration
	line  []byte // the incomplete last line
}

// Write implements io.Writer.
func (l *lateness) Write(b []byte) (int, error) {
	now := time.Now().UnixNano()
	l.line = append(l.line, b...)
	for {
		line, rest, whole := bytes.Cut(l.line, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		if _, after, ok := bytes.Cut(line, []byte(`"at":`)); ok {
			digits, _, _ := bytes.Cut(after, []byte(","))
			at, err := strconv.ParseInt(string(digits), 10, 64)
			if err != nil {
				return 0, err
			}
			l.found = append(l.found, time.Duration(now-at))
		}
		l.line = append(l.line[:0], rest...)
	}
}

// quantile returns the least value that is exceeded by at most the given fraction of all values.
func quantile(all []time.Duration, part float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}
