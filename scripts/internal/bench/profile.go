package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bench repeats rpcx until this total time or this number of runs is reached.
const (
	profileTime = 3 * time.Second
	profileRuns = 400
)

// profile makes a CPU profile of rpcx in a row. A run of a few milliseconds yields at most one sample, so the samples of many runs
// are added.
func (l *lab) profile(r row, to string) error {
	clients, err := r.clients(l, r.n.quick)
	if err != nil {
		return err
	}
	dir := l.at("profiles")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	rpcx := clients[0].job
	rpcx.env = append(rpcx.env, "RPCX_PROFILES="+dir)
	runs, took := 0, time.Duration(0)
	for ; took < profileTime && runs < profileRuns; runs++ {
		s, err := rpcx.run()
		if err != nil {
			return err
		}
		took += s.cpu
	}
	all, err := filepath.Glob(filepath.Join(dir, "cpu-*"))
	if err != nil || len(all) == 0 {
		return errors.Join(err, errors.New("nothing was profiled"))
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	merge := exec.Command("go", append([]string{"tool", "pprof", "-proto"}, all...)...)
	merge.Stdout = out
	if err := merge.Run(); err != nil {
		return fmt.Errorf("adding up %d profiles: %w", len(all), err)
	}
	fmt.Fprintf(os.Stderr, "%d runs of %s; look with: go tool pprof -top %s\n", runs, rpcx.args[0], to)
	return nil
}
