package main

import (
	"slices"
	"time"
)

// A row is one piece of work, and who does it.
type row struct {
	name string // for --row
	what string
	unit unit
	goal goal
	most float64 // the goal in the unit, where it is no ratio; 0 means none
	n    size    // how much is done in one run
	runs size
	// clients are those who do it, rpcx first. What they need is made in l.
	clients func(l *lab, n int) ([]client, error)
}

// rows are all rows, in the order of the report. To add some, write a function like
// those that are named here.
func rows() []row {
	return slices.Concat(streamRows(), latencyRows(), batchRows(), callRows(), startRows(), sessionRows(), pluginRows(), tapeRows(), pageRows())
}

// A size is that of the whole benchmark, and of --quick.
type size struct{ whole, quick int }

func (s size) of(quick bool) int {
	if quick {
		return s.quick
	}
	return s.whole
}

// A goal is the maximum for rpcx, as a multiple of another client's value in the same run. The zero value means no goal.
type goal struct {
	ratio float64
	of    string
}

// The clients that most rows have. One without a name of its own is "raw": frames put
// together by hand, no library; or "tuned": the library of rpcx in a raw loop, a reused
// buffer and no JSON.
const (
	isRaw   = "raw"
	isTuned = "tuned"
)

// A client is one program of a row.
type client struct {
	who string // what the report calls it
	job job
}

// A unit is what a row counts in.
type unit struct {
	Of  string `json:"of"` // the clock, and what it is divided by
	cpu bool   // the time of the processor, user and system, of the whole process; else what passes
	per bool   // divided by n, in µs; else of a run, in ms

	late float64 // how late that part of the lines comes, at most, in µs; 0 means what the run takes
}

var (
	cpuPerEvent = unit{Of: "CPU µs an event", cpu: true, per: true}
	cpuPerCall  = unit{Of: "CPU µs a call", cpu: true, per: true}
	cpuPerRun   = unit{Of: "CPU ms", cpu: true}
	wallPerRun  = unit{Of: "ms"}
)

// in is what a run of n took in the unit.
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
