//go:build linux

package main

import (
	"bufio"
	"context"
	"os"
	"strconv"
	"time"
)

// A pace spreads work over a duration.
type pace struct {
	begun time.Time
	lasts time.Duration
	of    int
}

// pace returns the pace of n actions over the duration of s.
func (s *soak) pace(n int) pace { return pace{s.begun, s.lasts, n} }

// step is the longest time between pauses. All actions that are due within a step are done at once.
const step = 50 * time.Millisecond

// ahead returns the time until action i is due, or 0 if that time is at most step.
func (p pace) ahead(i int) time.Duration {
	due := p.begun.Add(time.Duration(float64(p.lasts) * float64(i) / float64(p.of)))
	if rest := time.Until(due); rest > step {
		return rest
	}
	return 0
}

// rest waits until action i is due or ctx ends. Before it waits, it calls before.
func (p pace) rest(ctx context.Context, i int, before func() error) error {
	wait := p.ahead(i)
	if wait == 0 {
		return nil
	}
	if err := before(); err != nil {
		return err
	}
	select {
	case <-time.After(wait): // the pace, not a wait for an event
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ticks prints the numbers up to n over the duration lasts, one per line. A hook runs it as a command.
func ticks(n, lasts string) error {
	of, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(lasts)
	if err != nil {
		return err
	}
	p := pace{time.Now(), d, of}
	out := bufio.NewWriter(os.Stdout)
	for i := range of {
		if err := p.rest(context.Background(), i, out.Flush); err != nil {
			return err
		}
		if _, err := out.WriteString(strconv.Itoa(i+1) + "\n"); err != nil {
			return err
		}
	}
	return out.Flush()
}
