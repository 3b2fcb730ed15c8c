package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// measured is the report that scripts/bench --publish stored.
const measured = "scripts/internal/bench/published.json"

// speedRows are the rows of the report that README names.
var speedRows = []string{"stream-216", "batch-64", "call-ws"}

// speedText returns README's sentence about a published run.
func speedText() (string, error) {
	text, err := os.ReadFile(measured)
	if err != nil {
		return "", err
	}
	var run struct {
		Name, Machine string
		Rows          []struct {
			Row, What, Unit string
			Clients         []struct {
				Who  string
				Took struct{ Median float64 }
			}
		}
	}
	if err := json.Unmarshal(text, &run); err != nil {
		return "", fmt.Errorf("%s: %w", measured, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %s on %s:", run.Name, run.Machine)
	separator := ""
	for _, r := range run.Rows {
		if !slices.Contains(speedRows, r.Row) {
			continue
		}
		var all []string
		for _, c := range r.Clients {
			all = append(all, fmt.Sprintf("%s %.3g", c.Who, c.Took.Median))
		}
		fmt.Fprintf(&b, "%s %s: **%s** %s (%s)", separator, r.What, strings.TrimPrefix(all[0], "rpcx "), r.Unit, strings.Join(all[1:], "; "))
		separator = ","
	}
	b.WriteString(".\n")
	return b.String(), nil
}
