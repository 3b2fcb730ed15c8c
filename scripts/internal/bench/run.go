package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// job is one run of a program; its output goes to the null device, or to whoever reads it.
type job struct {
	args  []string
	stdin string // a file; "": none
	read  bool   // its output is read
	calls int    // in place of stdin: as many requests, one after the other, each answered before the next; 0: none
}

// sample is what a run took.
type sample struct {
	cpu, wall time.Duration
	rss       int64 // the peak, in bytes; 0 where it is not known
}

func (j job) run() (sample, error) {
	cmd := exec.Command(j.args[0], j.args[1:]...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if j.stdin != "" {
		f, err := os.Open(j.stdin)
		if err != nil {
			return sample{}, err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return sample{}, err
	}
	defer null.Close()
	cmd.Stdout = null
	if j.read {
		cmd.Stdout = reader{}
	}
	run := cmd.Run
	if j.calls > 0 {
		cmd.Stdout = nil
		run = func() error { return talk(cmd, j.calls) }
	}
	begun := time.Now()
	if err := run(); err != nil {
		return sample{}, fmt.Errorf("%s: %w: %s", strings.Join(j.args, " "), err, complaint.String())
	}
	return sample{
		cpu:  cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		wall: time.Since(begun),
		rss:  maxRSS(cmd.ProcessState),
	}, nil
}

// A reader reads what a program says, and does nothing with it.
type reader struct{}

// Write implements io.Writer.
func (reader) Write(b []byte) (int, error) { return len(b), nil }

// talk runs cmd and makes n calls over its stdin and stdout, a line each, one after
// the other.
func talk(cmd *exec.Cmd, n int) error {
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	request := []byte(`{"jsonrpc":"2.0","id":1,"method":"echo","params":["` + strings.Repeat("x", messageSize) + `"]}` + "\n")
	lines := bufio.NewReader(out)
	for range n {
		if _, err = in.Write(request); err != nil {
			break
		}
		if _, err = lines.ReadSlice('\n'); err != nil {
			break
		}
	}
	return errors.Join(err, in.Close(), cmd.Wait())
}

// program is one row of a comparison.
type program struct {
	name string
	job  job
}

// row is what came of a program's runs.
type row struct {
	name      string
	cpu, wall time.Duration
	samples   []sample
	unit      func(time.Duration) string
	base      *row // what it is compared with; nil for a baseline
}

// table is all comparisons.
type table struct{ rows []*row }

// measure runs the programs in turns, after one run of each that does not
// count, and compares the first with each of the others.
func (t *table) measure(runs int, unit func(time.Duration) string, programs ...program) error {
	rows := make([]*row, len(programs))
	for i, p := range programs {
		rows[i] = &row{name: p.name, unit: unit}
	}
	for round := range runs + 1 {
		for i, p := range programs {
			s, err := p.job.run()
			if err != nil {
				return err
			}
			if round > 0 {
				rows[i].samples = append(rows[i].samples, s)
			}
		}
	}
	for i, r := range rows {
		r.cpu = median(each(r.samples, func(s sample) time.Duration { return s.cpu }))
		r.wall = median(each(r.samples, func(s sample) time.Duration { return s.wall }))
		if i > 0 {
			first := *rows[0]
			first.base = r
			t.rows = append(t.rows, &first)
		}
	}
	return nil
}

// print writes the table as Markdown.
func (t *table) print() {
	fmt.Println("| rpcx | CPU | compared with | CPU | CPU ratio (middle half) | CPU more | wall ratio |")
	fmt.Println("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
	for _, r := range t.rows {
		low, high := r.spread()
		fmt.Printf("| %s | %s | %s | %s | **%.2f** (%.2f–%.2f) | %s | %.2f |\n",
			r.name, r.unit(r.cpu), r.base.name, r.unit(r.base.cpu),
			ratio(r.cpu, r.base.cpu), low, high, r.unit(r.cpu-r.base.cpu), ratio(r.wall, r.base.wall))
	}
}

// spread is the middle half of the ratios of runs that were neighbours.
func (r *row) spread() (low, high float64) {
	var all []float64
	for i, s := range r.samples {
		all = append(all, ratio(s.cpu, r.base.samples[i].cpu))
	}
	slices.Sort(all)
	return all[len(all)/4], all[len(all)*3/4]
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

func each[A, B any](all []A, of func(A) B) []B {
	out := make([]B, len(all))
	for i, v := range all {
		out[i] = of(v)
	}
	return out
}

func median[T ~int64](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// far is the server that all clients talk to.
type far struct {
	cmd      *exec.Cmd
	ws, unix string
}

// listen starts the server on a port and on a Unix socket.
func listen(server, socket string) (*far, error) {
	cmd := exec.Command(server, socket, fmt.Sprint(messageSize))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server did not start: %w", err), cmd.Process.Kill(), cmd.Wait())
	}
	return &far{cmd: cmd, ws: "ws://127.0.0.1:" + strings.TrimSpace(port) + "/", unix: "unix:" + socket}, nil
}

func (f *far) stop() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}

// verify makes sure that what is measured is done: what rpcx prints is counted.
func (f *far) verify(rpcx, dir string) error {
	requests := filepath.Join(dir, "few")
	if err := writeRequests(requests, 1000); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"subscribe", f.ws, "ticks", "[1000]", "--count", "1000"},
		{"call", f.ws, "--batch", "--jobs", "64"},
	} {
		in, err := os.Open(requests)
		if err != nil {
			return err
		}
		cmd := exec.Command(rpcx, args...)
		cmd.Stdin = in
		out, err := cmd.Output()
		in.Close()
		if err != nil {
			return fmt.Errorf("rpcx %s: %w", strings.Join(args, " "), err)
		}
		if n := bytes.Count(out, []byte("\n")); n != 1000 {
			return fmt.Errorf("rpcx %s printed %d lines, not 1000", strings.Join(args, " "), n)
		}
	}
	return nil
}
