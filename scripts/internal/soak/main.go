//go:build linux

// Soak runs all parts of rpcx at the same time for a long time. It checks that all messages arrive in order and are on the tapes of
// the recorders between the peers, and that memory and descriptors stay constant. It prints a line for each part, tape and process,
// and exits with 1 if a message is lost or a process grows.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A load is the amount of work for each part.
type load struct {
	events, calls, connections int
	lasts                      time.Duration // duration of each part, unless the machine is too slow
}

var (
	whole  = load{events: 10_000_000, calls: 1_000_000, connections: 100_000, lasts: time.Hour}
	minute = load{events: 500_000, calls: 40_000, connections: 4_000, lasts: 45 * time.Second}
)

// within returns the load for the duration d, in proportion to l.
func (l load) within(d time.Duration) load {
	some := func(n int) int { return max(1, int(float64(n)*d.Seconds()/l.lasts.Seconds())) }
	return load{some(l.events), some(l.calls), some(l.connections), d}
}

// A part repeats one kind of work. It returns a summary, or an error.
type part struct {
	name   string
	run    func(*soak, context.Context) (did string, err error)
	shares bool // whether the part uses the shared server through the shared recorder
}

var parts = []part{
	{"events over TCP", eventsOverTCP, false},
	{"events of a hook", eventsOfAHook, true},
	{"calls", calls, true},
	{"connections", connections, true},
	{"a session that is cut", cutSession, false},
}

// A soak is one run.
type soak struct {
	load
	rpcx   string // path of the binary
	folder string // the directory of all files
	begun  time.Time
	server string // endpoint of the recorder in front of the shared server
	mu     sync.Mutex
	looked []*watched
	tape   tally // the expected tape of that recorder
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "ticks" {
		if err := ticks(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "soak:", err)
			os.Exit(1)
		}
		return
	}
	short := flag.Bool("minute", false, "a minute of it")
	during := flag.Duration("for", 0, "as much as an hour has in `TIME`")
	only := flag.String("part", "", "the part whose name holds this, alone")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	s := &soak{load: whole, rpcx: os.Getenv("RPCX")}
	if *short {
		s.load = minute
	} else if *during > 0 {
		s.load = whole.within(*during)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.all(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// build builds the program, unless RPCX is the path of a binary.
func (s *soak) build() (err error) {
	if s.rpcx == "" {
		s.rpcx = filepath.Join(s.folder, "rpcx-tested") // rpcx is the directory for its sockets
		if out, err := exec.Command("scripts/build", s.rpcx).CombinedOutput(); err != nil {
			return fmt.Errorf("scripts/build: %w\n%s", err, out)
		}
	}
	s.rpcx, err = filepath.Abs(s.rpcx)
	return err
}

func (s *soak) all(ctx context.Context, only string) error {
	var err error
	if s.folder, err = os.MkdirTemp("", "soak"); err != nil {
		return err
	}
	defer os.RemoveAll(s.folder)
	if err := s.build(); err != nil {
		return err
	}
	s.begun = time.Now()
	taped, err := s.serve(ctx, only)
	if err != nil {
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
	if line, err := taped(); err != nil {
		bad++
		fmt.Printf("FAILED %-26s %v\n", "the server's tape", err)
	} else if line != "" {
		fmt.Printf("ok     %-26s %s\n", "the server's tape", line)
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
		return fmt.Errorf("%d parts failed", bad)
	}
	return nil
}

// serve starts the shared server and its recorder if a part uses them. The returned function ends both. It returns a summary of the
// tape, or an error if messages are missing from it.
func (s *soak) serve(ctx context.Context, only string) (taped func() (string, error), err error) {
	if !slices.ContainsFunc(parts, func(p part) bool { return p.shares && strings.Contains(p.name, only) }) {
		return func() (string, error) { return "", nil }, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	at, end, err := s.listen(ctx, "serve", "serve", "ws://127.0.0.1:0/", "--on", "add=jq:.[0]+.[1]",
		"--on", fmt.Sprintf("ticks=lines:%s ticks %d %v", self, s.events, s.lasts))
	if err != nil {
		return nil, err
	}
	between, stop, err := s.record(ctx, "record, before serve", at)
	if err != nil {
		end()
		return nil, err
	}
	s.server = between
	return func() (string, error) {
		is, err := stop()
		end()
		if err == nil && is != s.tape {
			err = fmt.Errorf("the tape has %v, want %v", is, s.tape)
		}
		return is.String(), err
	}, nil
}

// wants adds to the expected tape of the shared server's recorder.
func (s *soak) wants(t tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tape = s.tape.plus(t)
}

// command returns a command that runs rpcx with args, in directories of its own.
func (s *soak) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.rpcx, args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+s.folder, "HOME="+s.folder, "RPCX_HISTORY=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = os.Stderr
	return cmd
}

// listen starts rpcx with args, and returns its listen address and a function that ends it.
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
		_ = cmd.Wait() // after an interrupt, the error is expected
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
