//go:build linux

// Command faults runs the fault table: each command over each transport with each fault of its peer. Each combination is a cell, and
// many run in parallel.
//
//	scripts/faults [--cell PATTERN] [--seed N] [--sample N] [--jobs N] [-v]
//
// The messages of a cell's peer are written by hand, and pass through a proxy that makes one mistake. The command must end in time with
// the right status and one correct message. It must leave no process or file, and its tape must have all messages that passed. An rpcx
// process that continues (serve and other listening commands, a recorder, a named session) must not have more goroutines and file
// descriptors than after a correct peer.
//
// Progress is printed on stderr. On a signal, faults ends with all its processes, and prints the table so far.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		must(child(os.Args[2:]))
		return
	}
	debug.SetMemoryLimit(64 << 20) // the system includes this program's memory in the peak memory of its children
	b := &bench{}
	pattern := flag.String("cell", "*/*/*", "run the cells COMMAND/TRANSPORT/FAULT alone; a word may end with *")
	flag.Uint64Var(&b.seed, "seed", 0, "what random choices come from; 0 is another one each time")
	sample := flag.Int("sample", 0, "run so many cells, chosen by the seed, in place of all")
	jobs := flag.Int("jobs", 8*runtime.NumCPU(), "run so many at once")
	list := flag.Bool("list", false, "list the cells, and why some are impossible")
	flag.DurationVar(&b.timeout, "timeout", time.Second, "of each command")
	flag.DurationVar(&b.slack, "slack", time.Second, "how much later than --timeout a command may end")
	flag.BoolVar(&b.verbose, "v", false, "show what each command said")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	some := matching(*pattern)
	if len(some) == 0 {
		must(fmt.Errorf("no cell matches %s", *pattern))
	}
	if b.seed == 0 {
		b.seed = 1 + rand.Uint64N(999_999)
	}
	var able, unable []cell
	for _, c := range some {
		if why := c.cannot(); why != "" {
			unable = append(unable, c)
			if *list {
				fmt.Printf("%s: impossible: %s\n", c.name(), why)
			}
			continue
		}
		able = append(able, c)
		if *list {
			fmt.Println(c.name())
		}
	}
	if *list {
		fmt.Printf("%d cells, and %d that are impossible\n", len(able), len(unable))
		return
	}
	if *sample > 0 && *sample < len(able) {
		luck := rand.New(rand.NewPCG(b.seed, 1))
		luck.Shuffle(len(able), func(i, j int) { able[i], able[j] = able[j], able[i] })
		able = able[:*sample]
	}
	os.Exit(b.all(able, unable, *jobs))
}

// progressEvery is the interval between progress messages.
const progressEvery = 10 * time.Second

// prepare creates the files that cells need, in dir.
func (b *bench) prepare(dir string) {
	var err error
	b.self, err = os.Executable()
	must(err)
	b.rpcx, err = filepath.Abs(b.rpcx)
	must(err)
	b.dir, b.cacert, b.key = dir, filepath.Join(dir, "ca.pem"), filepath.Join(dir, "key.pem")
	must(os.WriteFile(b.cacert, ours().pem, 0o600))
	must(os.WriteFile(b.key, ours().key, 0o600))
}

// all runs the cells and returns the program's exit status.
func (b *bench) all(able, unable []cell, jobs int) int {
	dir, err := os.MkdirTemp("", "faults-")
	must(err)
	defer os.RemoveAll(dir)
	if b.rpcx = os.Getenv("RPCX"); b.rpcx == "" {
		b.rpcx = filepath.Join(dir, "rpcx")
		if out, err := exec.Command("go", "build", "-o", b.rpcx, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "faults: %v\n%s", err, out)
			return 2
		}
	}
	b.prepare(dir)
	fmt.Printf("seed %d: %d cells, %d at once\n", b.seed, len(able), jobs)

	begun := time.Now()
	var t table
	for _, c := range unable {
		t.cannot(c)
	}
	var mu sync.Mutex
	var running sync.WaitGroup
	var again []cell
	progress := func() string {
		return fmt.Sprintf("%d of %d cells, %d failed, %d to be tried again, %d s", t.run, len(able), t.failed, len(again), int(time.Since(begun).Seconds()))
	}
	go b.watched(&mu, &t, progress)
	next := make(chan cell)
	for range jobs {
		running.Go(func() {
			for c := range next {
				v := b.try(c)
				mu.Lock()
				if len(v.faults) > 0 && v.slow && jobs > 1 {
					again = append(again, c)
				} else {
					b.tell(v)
					t.add(v)
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range able {
		next <- c
	}
	close(next)
	running.Wait()
	// A cell that took too long while others were running is run again, alone.
	for len(again) > 0 {
		v := b.try(again[0])
		mu.Lock()
		again = again[1:]
		if len(v.faults) == 0 {
			t.late = append(t.late, v.cell)
		}
		b.tell(v)
		t.add(v)
		mu.Unlock()
	}
	mu.Lock() // forever, as after a signal
	t.print()
	fmt.Printf("%d s\n", int(time.Since(begun).Seconds()))
	if t.failed > 0 {
		return 1
	}
	return 0
}

// watched prints the progress regularly, and ends the run after a signal.
func (b *bench) watched(mu *sync.Mutex, t *table, progress func() string) {
	signals := interrupted()
	for ticks := time.Tick(progressEvery); ; {
		select {
		case <-ticks:
			mu.Lock()
			fmt.Fprintln(os.Stderr, "faults:", progress())
			mu.Unlock()
		case s := <-signals:
			mu.Lock() // forever, because later results would be meaningless
			b.stop()
			t.print()
			fmt.Printf("%v after %s\n", s, progress())
			os.Exit(128 + int(s.(syscall.Signal)))
		}
	}
}

// signalled reports whether a signal has ended the run. After that, no process may be started.
var signalled atomic.Bool

// unlessSignalled blocks forever if the run has ended, because the caller would otherwise start a process or report a killed one.
func unlessSignalled() {
	if signalled.Load() {
		select {}
	}
}

// interrupted returns a channel for the signal that ends the run.
func interrupted() <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// go run does not forward SIGTERM: it exits, and this program continues.
	parent := os.Getppid()
	if name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(parent), "comm")); strings.TrimSpace(string(name)) == "go" {
		go func() {
			for os.Getppid() == parent {
				time.Sleep(10 * lookEvery)
			}
			signals <- syscall.SIGTERM
		}()
	}
	return signals
}

// stop ends the run after a signal. It kills the processes of all cells and their children until none is left.
func (b *bench) stop() {
	signalled.Store(true)
	for quiet := 0; quiet < 5; quiet++ {
		for _, p := range carrying(fmt.Sprintf("FAULTS_CELL=%d-", os.Getpid())) {
			syscall.Kill(p.pid, syscall.SIGKILL)
			quiet = 0
		}
		time.Sleep(lookEvery)
	}
	os.RemoveAll(b.dir)
}
