// Soak runs rpcx for long, with all parts at once, and counts: what was sent came, in its order, and memory and
// descriptors stay as they were. It prints a line for each part and one for each process that it looked at, and exits
// with 1 where something is lost or grows.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A load is how much of everything is done.
type load struct {
	events, calls, connections int
	session                    time.Duration
}

var (
	whole  = load{events: 10_000_000, calls: 1_000_000, connections: 100_000, session: time.Hour}
	minute = load{events: 500_000, calls: 40_000, connections: 4_000, session: 45 * time.Second}
)

// A part does one thing for long. It returns what it did, or why that is wrong.
type part struct {
	name string
	run  func(*soak, context.Context) (did string, err error)
}

var parts = []part{
	{"events over TCP", eventsOverTCP},
	{"events of a hook", eventsOfAHook},
	{"calls through a recorder", callsThroughARecorder},
	{"connections to one server", connections},
	{"a session that is cut", cutSession},
}

// A soak is one run.
type soak struct {
	load
	rpcx   string // the binary
	folder string // of all that is written
	mu     sync.Mutex
	looked []*watched
}

func main() {
	short := flag.Bool("minute", false, "a minute of it")
	only := flag.String("part", "", "the part whose name holds this, alone")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	s := &soak{load: whole, rpcx: os.Getenv("RPCX")}
	if *short {
		s.load = minute
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.all(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func (s *soak) all(ctx context.Context, only string) error {
	var err error
	if s.folder, err = os.MkdirTemp("", "soak"); err != nil {
		return err
	}
	defer os.RemoveAll(s.folder)
	if s.rpcx == "" {
		s.rpcx = filepath.Join(s.folder, "rpcx")
		if out, err := exec.Command("scripts/build", s.rpcx).CombinedOutput(); err != nil {
			return fmt.Errorf("scripts/build: %w\n%s", err, out)
		}
	}
	if s.rpcx, err = filepath.Abs(s.rpcx); err != nil {
		return err
	}
	var wg sync.WaitGroup
	failed := make([]error, len(parts))
	for i, p := range parts {
		if !strings.Contains(p.name, only) {
			continue
		}
		wg.Go(func() {
			begun := time.Now()
			did, err := p.run(s, ctx)
			failed[i] = err
			took := time.Since(begun).Round(time.Second)
			if err != nil {
				fmt.Printf("FAILED %-26s %v after %v\n", p.name, err, took)
				return
			}
			fmt.Printf("ok     %-26s %s in %v\n", p.name, did, took)
		})
	}
	wg.Wait()
	bad := 0
	for _, err := range failed {
		if err != nil {
			bad++
		}
	}
	for _, w := range s.looked {
		line, err := w.verdict()
		if err != nil {
			bad++
			line = fmt.Sprintf("%s: %v", line, err)
		}
		fmt.Println(line)
	}
	if bad > 0 {
		return fmt.Errorf("%d of it went wrong", bad)
	}
	return nil
}

// command is rpcx with args, with folders of its own.
func (s *soak) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.rpcx, args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+s.folder, "HOME="+s.folder, "RPCX_HISTORY=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = os.Stderr
	return cmd
}

// listen starts rpcx with args, which listens, and returns where, and what ends it.
func (s *soak) listen(ctx context.Context, what string, args ...string) (endpoint string, end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := s.command(ctx, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return "", nil, err
	}
	gone := func() {
		cancel()
		_ = cmd.Wait() // interrupted by us: the status says so
	}
	endpoint, err = listening(out)
	if err != nil {
		gone()
		return "", nil, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	w := s.watch(what, cmd.Process.Pid)
	return endpoint, func() {
		w.stop()
		gone()
	}, nil
}
