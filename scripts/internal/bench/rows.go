package main

import (
	"slices"
	"time"
)

// A row is one kind of work with its clients.
type row struct {
	name string // the value of --row
	what string
	unit unit
	goal goal
	most float64 // the goal in the unit, unless the goal is a ratio; 0 for no goal
	n    size    // the amount of work per run
	runs size
	// clients returns the programs that do the work, rpcx first. It creates their files in l.
	clients  func(l *lab, n int) ([]client, error)
	packages []string // the required packages of scripts/internal/interop; bench omits the row without them
}

// rows returns all rows in the order of the report. New rows need a function like those in the list.
func rows() []row {
	return slices.Concat(streamRows(), latencyRows(), batchRows(), callRows(), startRows(), sessionRows(), mcpRows(), pluginRows(), tapeRows(), pageRows(), validateRows())
}

// A size is the amount of work for the whole benchmark and for --quick.
type size struct{ whole, quick int }

func (s size) of(quick bool) int {
	if quick {
		return s.quick
	}
	return s.whole
}

// A goal is rpcx's maximum as a multiple of another client's value in the same run. The zero value is no goal.
type goal struct {
	ratio float64
	of    string
}

// These are the clients of most rows. A client without its own name is "raw" (hand-written frames, no library) or "tuned" (rpcx's library
// in a minimal loop, with a reused buffer and without JSON).
const (
	isRaw   = "raw"
	isTuned = "tuned"
)

// A client is one program of a row.
type client struct {
	who string // the client's name in the report
	job job
}

// A unit is the unit in which a row's values are measured.
type unit struct {
	Of  string `json:"of"` // the clock and the divisor
	cpu bool   // the CPU time (user and system) of the whole process, not the elapsed time
	per bool   // the time divided by n, in µs, not the time of a run, in ms

	late float64 // for delays of lines: the fraction of the lines whose delay the value bounds, in µs; 0 measures the time of the run
}

var (
	cpuPerEvent = unit{Of: "CPU µs an event", cpu: true, per: true}
	cpuPerCall  = unit{Of: "CPU µs a call", cpu: true, per: true}
	cpuPerRun   = unit{Of: "CPU ms", cpu: true}
	wallPerRun  = unit{Of: "ms"}
)

// in returns the value of s, a run with the amount of work n, in the unit u.
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
