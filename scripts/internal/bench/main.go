// Command bench compares rpcx with minimal programs that do the same work, in alternating runs. rows.go lists the measurements.
//
//	scripts/bench [--quick] [--json]             all rows, as Markdown or JSON
//	scripts/bench [--quick] [--json] --row NAME  rows whose names begin with NAME; can be repeated
//	scripts/bench --once                         each program of each row runs once with --quick's amount of work, as a test of the benchmark
//	scripts/bench --row NAME --profile FILE      a CPU profile of rpcx in that row
//	scripts/bench --publish NAME                 all rows that have a goal, for README
//	scripts/bench --list                         the names of the rows
//
// Times depend on the machine and its load. Ratios can be compared.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

type flags struct {
	quick, once, json, list bool
	profile, publish        string
	rows                    []string
}

func main() {
	var f flags
	flag.BoolVar(&f.quick, "quick", false, "fewer and shorter runs")
	flag.BoolVar(&f.once, "once", false, "run each program once, which tests the benchmark but measures little")
	flag.BoolVar(&f.json, "json", false, "print JSON")
	flag.BoolVar(&f.list, "list", false, "print the names of the rows")
	flag.StringVar(&f.profile, "profile", "", "write a CPU profile of rpcx in the row to `FILE`")
	flag.StringVar(&f.publish, "publish", "", "store the run for README under this `NAME`")
	flag.Func("row", "measure the rows whose names begin with `NAME`", func(name string) error {
		f.rows = append(f.rows, name)
		return nil
	})
	flag.Parse()
	err := run(f)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(f flags) error {
	if flag.NArg() > 0 {
		return errors.New("no arguments are taken: see scripts/internal/bench/main.go")
	}
	chosen := slices.DeleteFunc(rows(), func(r row) bool {
		named := slices.ContainsFunc(f.rows, func(name string) bool { return strings.HasPrefix(r.name, name) })
		return len(f.rows) > 0 && !named || f.publish != "" && r.goal.ratio == 0 && r.most == 0
	})
	switch {
	case len(chosen) == 0:
		return errors.New("no row has such a name: see --list")
	case f.list:
		for _, r := range chosen {
			fmt.Printf("%-28s %s\n", r.name, r.what)
		}
		return nil
	case f.profile != "" && len(chosen) > 1:
		return errors.New("--profile is of one row: see --list")
	}
	l, err := newLab(f.profile != "")
	if err != nil {
		return err
	}
	defer l.clear()
	if f.profile != "" {
		return l.profile(chosen[0], f.profile)
	}
	results := report{Name: f.publish, Date: time.Now().UTC().Format(time.DateOnly)}
	if results.Rows, err = l.measureAll(chosen, f); err != nil {
		return err
	}
	return results.write(f)
}

// measureAll measures the rows whose packages are installed.
func (l *lab) measureAll(chosen []row, f flags) ([]result, error) {
	var all []result
	for _, r := range chosen {
		if name := r.missing(); name != "" {
			fmt.Fprintf(os.Stderr, "left out: %s, which needs %s (npm ci --prefix scripts/internal/interop)\n", r.name, name)
			continue
		}
		done, err := l.measure(r, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		all = append(all, done)
		fmt.Fprintln(os.Stderr, done.line())
	}
	return all, nil
}
