package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A job is one run of a program. Its output is discarded by the system or by a reader.
type job struct {
	args  []string
	stdin string   // a file, or ""
	read  bool     // a reader reads the output
	times bool     // a reader reads the output, whose lines contain the time of their write
	calls int      // instead of stdin: the number of sequential requests, each sent after the previous response; 0 means none
	env   []string // additional environment variables
	fresh string   // a file that the program creates; it is removed before the run, because freeing a long file takes time
}

type sample struct {
	cpu, wall time.Duration
	rss       int64 // peak memory in bytes, or 0 if unknown
	late      []time.Duration
}

func (j job) run() (sample, error) {
	cmd := exec.Command(j.args[0], j.args[1:]...)
	cmd.Env = append(os.Environ(), j.env...)
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
	if j.fresh != "" {
		if err := os.Remove(j.fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
			return sample{}, err
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return sample{}, err
	}
	defer null.Close()
	cmd.Stdout = null
	var late lateness
	switch {
	case j.read:
		cmd.Stdout = reader{}
	case j.times:
		cmd.Stdout = &late
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
	if j.times && len(late.found) == 0 {
		return sample{}, fmt.Errorf("%s printed no event", strings.Join(j.args, " "))
	}
	return sample{
		cpu:  cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		wall: time.Since(begun),
		rss:  maxRSS(cmd.ProcessState),
		late: late.found,
	}, nil
}

// A reader reads the output of a program and discards it.
type reader struct{}

// Write implements io.Writer.
func (reader) Write(b []byte) (int, error) { return len(b), nil }

// requestSize is the size of the params in the requests of talk, in bytes.
const requestSize = 240

// talk runs cmd and makes n sequential calls over stdin and stdout, one per line.
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
	request := []byte(`{"jsonrpc":"2.0","id":1,"method":"echo","params":["` + strings.Repeat("x", requestSize) + `"]}` + "\n")
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

// measure runs the clients of a row alternately, after one run of each that does not count, unless it is the only run. Every other
// round is in reverse order, because a program that writes a file can be slower after another program's file has been removed.
func (l *lab) measure(r row, f flags) (result, error) {
	n, last := r.n.of(f.quick || f.once), r.runs.of(f.quick)
	if f.once {
		last = 0
	}
	clients, err := r.clients(l, n)
	if err != nil {
		return result{}, err
	}
	all := make([][]sample, len(clients))
	for round := range last + 1 {
		for i := range clients {
			if round%2 == 1 {
				i = len(clients) - 1 - i
			}
			s, err := clients[i].job.run()
			if err != nil {
				return result{}, err
			}
			if round > 0 || f.once {
				all[i] = append(all[i], s)
			}
		}
	}
	return newResult(r, n, clients, all), nil
}
