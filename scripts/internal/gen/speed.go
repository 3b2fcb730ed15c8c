package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// measured is the run that scripts/bench --publish stored.
const measured = "scripts/internal/bench/published.json"

// speedRows are the rows of it that README shows.
var speedRows = []string{"stream-216", "batch-64", "call-ws", "call-http", "call-session"}

// speedTable is README's table of a published run.
func speedTable() (string, error) {
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
	fmt.Fprintf(&b, "| run %s, %s | in | rpcx | others |\n| --- | --- | ---: | --- |\n", run.Name, run.Machine)
	for _, r := range run.Rows {
		if !slices.Contains(speedRows, r.Row) {
			continue
		}
		var all []string
		for _, c := range r.Clients {
			all = append(all, fmt.Sprintf("%s %.3g", c.Who, c.Took.Median))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(r.What), r.Unit, strings.TrimPrefix(all[0], "rpcx "), cell(strings.Join(all[1:], "; ")))
	}
	return b.String(), nil
}
