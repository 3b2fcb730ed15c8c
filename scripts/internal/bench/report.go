package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// A report has the results of all rows. scripts/gen reads a published report.
type report struct {
	Name    string   `json:"name,omitempty"`
	Date    string   `json:"date"`
	Machine string   `json:"machine"`
	Rows    []result `json:"rows"`
}

// A result has the values of one row.
type result struct {
	Row     string   `json:"row"`
	What    string   `json:"what"`
	Unit    string   `json:"unit"`
	Clients []figure `json:"clients"` // rpcx first
	Of      string   `json:"of"`      // the client that rpcx is compared with
	Ratio   spread   `json:"ratio"`   // the ratio of neighbouring runs
	Goal    float64  `json:"goal,omitempty"`
	Most    float64  `json:"most,omitempty"` // the goal in the unit, unless the goal is a ratio
}

// A figure has the values of one client.
type figure struct {
	Who  string `json:"who"`
	Took spread `json:"took"`
	Peak int64  `json:"peak"` // memory in bytes, or 0 if unknown
}

// A spread is a median with its two quartiles.
type spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

func spreadOf(all []float64) spread {
	all = slices.Sorted(slices.Values(all))
	return spread{all[len(all)/2], all[len(all)/4], all[len(all)*3/4]}
}

// newResult compares rpcx with the goal's client or, without a goal, with the second client. The ratio is that of the medians, and
// its spread comes from the ratios of neighbouring runs.
func newResult(r row, n int, clients []client, all [][]sample) result {
	out := result{Row: r.name, What: r.what, Unit: r.unit.Of, Goal: r.goal.ratio, Most: r.most}
	base := 1
	took := make([][]float64, len(clients))
	for i, c := range clients {
		if c.who == r.goal.of {
			base = i
		}
		var peaks []int64
		for _, s := range all[i] {
			took[i] = append(took[i], r.unit.in(s, n))
			peaks = append(peaks, s.rss)
		}
		slices.Sort(peaks)
		out.Clients = append(out.Clients, figure{c.who, spreadOf(took[i]), peaks[len(peaks)/2]})
	}
	var ratios []float64
	for i, t := range took[0] {
		ratios = append(ratios, t/max(took[base][i], 1e-6))
	}
	out.Of, out.Ratio = clients[base].who, spreadOf(ratios)
	out.Ratio.Median = out.Clients[0].Took.Median / max(out.Clients[base].Took.Median, 1e-6)
	return out
}

// line returns the result as a row of a Markdown table.
func (r result) line() string {
	var others []string
	for _, c := range r.Clients[1:] {
		others = append(others, fmt.Sprintf("%s %s", c.Who, number(c.Took.Median)))
	}
	goal := "–"
	switch {
	case r.Goal > 0:
		goal = fmt.Sprintf("≤ %s (%s)", number(r.Goal), number(r.Goal*r.base().Took.Median))
	case r.Most > 0:
		goal = "≤ " + number(r.Most) + " " + r.Unit
	}
	rpcx := r.Clients[0].Took
	return fmt.Sprintf("| %s | %s | %s (%s–%s) | %s | **%.2f** (%.2f–%.2f) of %s | %s |", r.What, r.Unit,
		number(rpcx.Median), number(rpcx.Low), number(rpcx.High), strings.Join(others, "; "),
		r.Ratio.Median, r.Ratio.Low, r.Ratio.High, r.Of, goal)
}

// base returns the figure that rpcx is compared with.
func (r result) base() figure {
	return r.Clients[slices.IndexFunc(r.Clients, func(f figure) bool { return f.Who == r.Of })]
}

// number formats a number with three digits.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// published is the file with the report that README shows.
const published = "scripts/internal/bench/published.json"

func (r report) write(f flags) error {
	r.Machine = fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if f.json || f.publish != "" {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text = append(bytes.ReplaceAll(text, []byte(`{"row":`), []byte("\n"+`{"row":`)), '\n') // one row per line
		if f.publish != "" {
			return os.WriteFile(published, text, 0o644)
		}
		_, err = os.Stdout.Write(text)
		return err
	}
	fmt.Printf("%s; medians and middle halves of runs that take turns; CPU is user and system time of the whole process\n\n", r.Machine)
	fmt.Println("| work | in | rpcx | others | ratio | goal |")
	fmt.Println("| --- | --- | ---: | --- | ---: | ---: |")
	for _, row := range r.Rows {
		fmt.Println(row.line())
	}
	var peaks []string
	for _, row := range r.Rows {
		if peak := row.Clients[0].Peak; peak > 0 {
			peaks = append(peaks, fmt.Sprintf("%s %.1f", row.Row, float64(peak)/1e6))
		}
	}
	fmt.Printf("\nPeak memory of rpcx in MB: %s.\n", strings.Join(peaks, ", "))
	return nil
}
