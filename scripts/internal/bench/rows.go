package main

import (
	"slices"
	"time"
)

// A row is one kind of work, and the clients that do it.
type row struct {
	name string // the value for --row
	what string
	unit unit
	goal goal
	most float64 // the goal as a value in the unit; 0 if there is none
	n    size    // the amount of work per run
	runs size
	// clients returns the programs that do the work, with rpcx first, and creates their files in l.
	clients  func(l *lab, n int) ([]client, error)
	packages []string // packages of scripts/internal/interop, without which the row is skipped
}

// rows returns all rows in the order of the report. Functions with further rows are added to the list.
func rows() []row {
	return slices.Concat(streamRows(), latencyRows(), batchRows(), callRows(), startRows(), sessionRows(), mcpRows(), pluginRows(), tapeRows(), pageRows(), validateRows())
}

// A size is the amount of work in a whole benchmark and with --quick.
type size struct{ whole, quick int }

func (s size) of(quick bool) int {
	if quick {
		return s.quick
	}
	return s.whole
}

// A goal bounds rpcx's value to a multiple of another client's value in the same run. The zero value is no goal.
type goal struct {
	ratio float64
	of    string
}

// Most rows have these clients. A client without a name of its own is "raw" (frames written by hand, no library) or "tuned" (rpcx's
// library in a minimal loop, with a reused buffer and without JSON).
const (
	isRaw   = "raw"
	isTuned = "tuned"
)

// A client is one program of a row.
type client struct {
	who string // name of the client in the report
	job job
}

// A unit is the unit of a row's values.
type unit struct {
	Of  string `json:"of"` // the clock and the divisor
	cpu bool   // CPU time (user and system) of the whole process instead of elapsed time
	per bool   // time divided by n in µs instead of the time of a run in ms

	late float64 // the delay in µs that this fraction of the lines does not exceed; 0 measures the time of the run
}

var (
	cpuPerEvent = unit{Of: "CPU µs an event", cpu: true, per: true}
	cpuPerCall  = unit{Of: "CPU µs a call", cpu: true, per: true}
	cpuPerRun   = unit{Of: "CPU ms", cpu: true}
	wallPerRun  = unit{Of: "ms"}
)

// in returns the value in the unit u of s, a run with the amount of work n.
func (u unit) in(s sample, n int) float64 {
	if u.late > 0 {
		return float64(quantile(s.late, u.late)) / float64(time.Microsecond)
	}
	t := s.wall
	if u.cpu {
		t = s.cpu
	}
	if u.per {
		return float64(t) / float64(time.Microsecond) / float64(n)
	}
	return float64(t) / float64(time.Millisecond)
}
