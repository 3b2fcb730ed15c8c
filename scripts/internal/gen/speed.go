package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// measured is the file to which scripts/bench --publish writes its report.
const measured = "scripts/internal/bench/published.json"

// speedRows maps the rows of the report that README describes to the name of the work and the unit in README.
var speedRows = map[string][2]string{
	"stream-216": {"An event of 216 bytes in `rpcx subscribe --method`", "µs of CPU time"},
	"batch-64":   {"A call in `rpcx call --batch` with 64 calls in flight", "µs of CPU time"},
	"call-ws":    {"One `rpcx call` over a WebSocket", "ms"},
}

// speedNames replaces the names of clients in these rows by those in README.
var speedNames = strings.NewReplacer("Go, net alone", "a Go program with only `net`", "Node, ws", "Node.js with `ws`")

// linked is the client that makes no call. README does not mention its start-up time.
const linked = "the four libraries, doing nothing"

// speedText returns the sentences about the published report in README.
func speedText() (string, error) {
	text, err := os.ReadFile(measured)
	if err != nil {
		return "", err
	}
	var run struct {
		Name, Machine string
		Rows          []struct {
			Row     string
			Clients []struct {
				Who  string
				Took struct{ Median float64 }
			}
		}
	}
	if err := json.Unmarshal(text, &run); err != nil {
		return "", fmt.Errorf("%s: %w", measured, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The figures are medians of the run of %s on %s.", run.Name, run.Machine)
	for _, r := range run.Rows {
		words, named := speedRows[r.Row]
		if !named {
			continue
		}
		var others []string
		for _, c := range r.Clients[1:] {
			if c.Who != linked {
				others = append(others, fmt.Sprintf("%s: %.3g", speedNames.Replace(c.Who), c.Took.Median))
			}
		}
		fmt.Fprintf(&b, " %s takes **%.3g** %s (%s).", words[0], r.Clients[0].Took.Median, words[1], strings.Join(others, ", "))
	}
	b.WriteString("\n")
	return b.String(), nil
}
