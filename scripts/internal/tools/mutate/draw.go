package main

import (
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// isFree reports whether m overlaps none of the chosen changes.
func isFree(chosen []*mutant, m *mutant) bool {
	for _, c := range chosen {
		if c.file == m.file && c.end > m.start && m.end > c.start {
			return false
		}
	}
	return true
}

// numbered sorts the changes by place, and numbers their switches.
func numbered(chosen []*mutant) []*mutant {
	sort.Slice(chosen, func(i, j int) bool {
		if chosen[i].file != chosen[j].file {
			return chosen[i].file < chosen[j].file
		}
		return chosen[i].start < chosen[j].start
	})
	for i, m := range chosen {
		m.id = i + 1
	}
	return chosen
}

// tried matches a line of an earlier run: the outcome, the file, the line number, the change, and the test that failed.
var tried = regexp.MustCompile(`(?m)^(?:noticed  |SURVIVED |UNREACHED) (\S+?):(\d+): (.*?)(?: \([^()]*\))?$`)

// drawAgain returns the changes of an earlier run, whose output is in file. It prints those that no longer exist in the program.
func drawAgain(packages []*source, file string) ([]*mutant, error) {
	output, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	like := map[string][]*mutant{} // by file and change
	for _, p := range packages {
		for _, m := range p.mutants {
			path, _, what := m.parts()
			like[path+"\x00"+what] = append(like[path+"\x00"+what], m)
		}
	}
	var chosen []*mutant
	for _, line := range tried.FindAllStringSubmatch(string(output), -1) {
		was, _ := strconv.Atoi(line[2])
		var nearest *mutant
		best := 0
		for _, m := range like[line[1]+"\x00"+line[3]] {
			_, at, _ := m.parts()
			if far := max(at-was, was-at); isFree(chosen, m) && (nearest == nil || far < best) {
				nearest, best = m, far
			}
		}
		if nearest == nil {
			say("is gone: %s:%s: %s", line[1], line[2], line[3])
			continue
		}
		chosen = append(chosen, nearest)
	}
	return numbered(chosen), nil
}

// parts splits what String returns.
func (m *mutant) parts() (path string, line int, what string) {
	place, what, _ := strings.Cut(m.String(), ": ")
	path, number, _ := strings.Cut(place, ":")
	line, _ = strconv.Atoi(number)
	return path, line, what
}
