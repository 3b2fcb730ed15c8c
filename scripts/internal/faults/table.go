//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A table counts the results of the cells.
type table struct {
	passed, failed, unable, notReached int
	run                                int
	rows                               map[string]*[3]int // by command and transport
	late                               []cell
	why                                map[string]int // number of impossible cells, by reason
}

func (t *table) row(c cell) *[3]int {
	if t.rows == nil {
		t.rows = map[string]*[3]int{}
	}
	name := c.run.name + "/" + c.over.name
	if t.rows[name] == nil {
		t.rows[name] = new([3]int)
	}
	return t.rows[name]
}

func (t *table) add(v verdict) {
	t.run++
	switch {
	case len(v.faults) > 0:
		t.failed++
		t.row(v.cell)[1]++
	case v.occurred == never && v.cell.fault.name != "none":
		t.notReached++
		t.row(v.cell)[2]++
		t.because("the conversation went on without such a message")
	default:
		t.passed++
		t.row(v.cell)[0]++
	}
}

func (t *table) cannot(c cell) {
	t.unable++
	t.row(c)[2]++
	t.because(c.cannot())
}

func (t *table) because(why string) {
	if t.why == nil {
		t.why = map[string]int{}
	}
	t.why[why]++
}

// print prints how many cells passed, failed or are impossible, for each command and transport.
func (t *table) print() {
	fmt.Printf("\n%-10s", "")
	for _, over := range transports {
		fmt.Printf(" %9s", over.name)
	}
	fmt.Println()
	for _, run := range commands {
		line := fmt.Sprintf("%-10s", run.name)
		any := false
		for _, over := range transports {
			n := t.rows[run.name+"/"+over.name]
			if n == nil {
				line += fmt.Sprintf(" %9s", ".")
				continue
			}
			any = true
			line += fmt.Sprintf(" %9s", fmt.Sprintf("%d/%d/%d", n[0], n[1], n[2]))
		}
		if any {
			fmt.Println(line)
		}
	}
	fmt.Println("passed/failed/impossible")
	for _, c := range t.late {
		fmt.Printf("too slow in parallel, in time when run alone: %s\n", c.name())
	}
	for _, why := range slices.Sorted(maps.Keys(t.why)) {
		fmt.Printf("%5d impossible: %s\n", t.why[why], why)
	}
	fmt.Printf("faults: %d passed, %d failed, %d impossible\n", t.passed, t.failed, t.unable+t.notReached)
}

// tell prints a failed cell, or with -v any cell.
func (b *bench) tell(v verdict) {
	if len(v.faults) == 0 && !b.verbose {
		return
	}
	mark := "ok"
	if len(v.faults) > 0 {
		mark = "not ok"
	}
	fmt.Printf("%s %s", mark, v.cell.name())
	if v.occurred != never {
		fmt.Printf(" (fault: %s)", v.occurred)
	}
	fmt.Println()
	for _, f := range v.faults {
		fmt.Printf("    %s\n", f)
	}
	if len(v.faults) > 0 {
		fmt.Printf("    run again: scripts/faults --cell %s --seed %d -v\n", v.cell.name(), b.seed)
	}
	most := 300
	if b.verbose {
		most = 4000
	}
	if b.verbose || len(v.faults) > 0 {
		if v.holds != "" {
			fmt.Printf("    continues with %s\n", v.holds)
		}
		for _, s := range v.steps {
			fmt.Printf("    $ rpcx %s\n", strings.Join(s.args, " "))
			fmt.Printf("      status %d after %.2fs, %d MB\n", s.status, s.took.Seconds(), s.rss>>10)
			fmt.Printf("      stdout %.*q\n      stderr %.*q\n", most, s.stdout, most, s.stderr)
		}
	}
}
