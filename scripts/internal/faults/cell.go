//go:build linux

package main

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// A cell combines a command, a transport and a fault.
type cell struct {
	run   *command
	over  *transport
	fault *fault
}

func (c cell) name() string { return c.run.name + "/" + c.over.name + "/" + c.fault.name }

// luck returns the seed of a cell's random choices.
func (c cell) luck(seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", c.name(), seed)
	return h.Sum64()
}

// cells returns all cells in the order of the tables.
func cells() []cell {
	var all []cell
	for _, run := range commands {
		for _, over := range transports {
			for _, f := range faults() {
				all = append(all, cell{run, over, f})
			}
		}
	}
	return all
}

// parseCell returns the cell of that name.
func parseCell(name string) (cell, error) {
	for _, c := range cells() {
		if c.name() == name {
			return c, nil
		}
	}
	return cell{}, fmt.Errorf("no cell is named %q: COMMAND/TRANSPORT/FAULT, see --list", name)
}

// matching returns the cells that match a pattern, in which * matches any word.
func matching(pattern string) []cell {
	words := strings.Split(pattern, "/")
	var some []cell
	for _, c := range cells() {
		mine := strings.Split(c.name(), "/")
		fits := len(words) == len(mine)
		for i := 0; fits && i < len(mine); i++ {
			prefix, many := strings.CutSuffix(words[i], "*")
			fits = words[i] == mine[i] || many && strings.HasPrefix(mine[i], prefix)
		}
		if fits {
			some = append(some, c)
		}
	}
	return some
}
