// Mutate makes small careless changes to the program, one at a time, and prints the changes that no test notices:
//
//	mutate [-n 200] [-seed 1] [-in REGEXP] [-jobs 2] [-list]
//	mutate -again FILE    the changes of an earlier run, whose output is in FILE
//
// All changes are compiled at once, each behind a switch, so the program is built only once. Mutate first runs the tests with all
// switches off, and records which switches each test reaches. It then tries each change with only the tests that reach its switch, the
// shortest test first, until one fails. Run it in the directory of the module.
//
// Other tools are slower or less precise: gremlins and go-mutesting build the tests of a package again for each change. go-mutants
// builds once, but runs whole test binaries and does not cover programs that a script starts.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.IntVar(&o.count, "n", 200, "how many changes to try")
	flag.Uint64Var(&o.seed, "seed", 1, "which ones are drawn")
	flag.StringVar(&o.in, "in", "", "draw from the changes whose line of -list this regular expression matches")
	flag.StringVar(&o.again, "again", "", "try the changes that `FILE`, the output of an earlier run, names: where lines have moved, the nearest like it")
	flag.IntVar(&o.jobs, "jobs", 2, "how many are tried at once")
	flag.BoolVar(&o.list, "list", false, "print what would be tried, and try nothing")
	flag.Float64Var(&o.least, "least", 0, "exit with 1 where a smaller part than this is noticed, as 0.95")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type options struct {
	count, jobs int
	seed        uint64
	in, again   string
	list        bool
	least       float64
}

func run(o options) error {
	pattern, err := regexp.Compile(o.in)
	if err != nil {
		return err
	}
	packages, err := load()
	if err != nil {
		return err
	}
	chosen := draw(packages, pattern, o)
	if o.again != "" {
		if chosen, err = drawAgain(packages, o.again); err != nil {
			return err
		}
	}
	if o.list || len(chosen) == 0 {
		for _, m := range chosen {
			fmt.Println(m)
		}
		return nil
	}

	folder := filepath.Join(os.TempDir(), fmt.Sprint("m", os.Getpid())) // a short name, because it is part of socket paths
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		sweep(folder)
		os.RemoveAll(folder)
		os.Exit(130)
	}()

	say("%d changes (seed %d) in %d packages", len(chosen), o.seed, len(packages))
	b, err := build(folder, packages, chosen, o.jobs)
	if err != nil {
		return err
	}
	begun := time.Now()
	units, err := b.trace(o.jobs)
	if err != nil {
		return err
	}
	say("all tests pass with all switches off, in %v", time.Since(begun).Round(time.Second))
	return b.try(units, o)
}

// draw returns o.count random changes that do not overlap, in the order of their places.
func draw(packages []*source, pattern *regexp.Regexp, o options) []*mutant {
	var all []*mutant
	for _, p := range packages {
		for _, m := range p.mutants {
			if pattern.MatchString(m.String()) {
				all = append(all, m)
			}
		}
	}
	order := rand.New(rand.NewPCG(o.seed, 0)).Perm(len(all))
	var chosen []*mutant
	for _, i := range order {
		if len(chosen) == o.count {
			break
		}
		if isFree(chosen, all[i]) {
			chosen = append(chosen, all[i])
		}
	}
	return numbered(chosen)
}

// say prints progress on stderr, because stdout has the results.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "mutate: "+format+"\n", args...) }
