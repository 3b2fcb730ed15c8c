//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// listening reads the listen address in the output of rpcx.
func listening(r io.Reader) (string, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return "", err
	}
	var said struct{ Listening string }
	if err := json.Unmarshal([]byte(line), &said); err != nil || said.Listening == "" {
		return "", fmt.Errorf("it says %q", line)
	}
	return said.Listening, nil
}

const (
	lookEvery = 200 * time.Millisecond
	growth    = 24 << 20 // the permitted growth from the second third to the last, in bytes
	moreFiles = 16       // the permitted growth from the second third to the last, in descriptors
)

// A watched is a process whose memory and descriptors are measured.
type watched struct {
	name   string
	done   chan struct{}
	wg     sync.WaitGroup
	rss    []int64
	opened []int
}

// watch measures the process pid until it ends or stop is called.
func (s *soak) watch(name string, pid int) *watched {
	w := &watched{name: name, done: make(chan struct{})}
	s.mu.Lock()
	s.looked = append(s.looked, w)
	s.mu.Unlock()
	w.wg.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for w.look(pid) {
			select {
			case <-w.done:
				return
			case <-tick.C:
			}
		}
	})
	return w
}

func (w *watched) stop() {
	close(w.done)
	w.wg.Wait()
}

// look records the process's current values. It returns false when the process has ended.
func (w *watched) look(pid int) bool {
	at := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(at + "/status")
	if err != nil {
		return false
	}
	files, _ := os.ReadDir(at + "/fd")
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			w.rss = append(w.rss, kilobytes<<10)
			w.opened = append(w.opened, len(files))
			return true
		}
	}
	return false // the process is a zombie
}

// verdict returns a line about the process, with an error if it used more in the last third of its time than before. Of the
// descriptors, the median counts, because many connections may end at the same moment.
func (w *watched) verdict() (string, error) {
	n := len(w.rss)
	if n < 6 {
		return fmt.Sprintf("ok     %-26s too short to be measured", w.name), nil
	}
	most := func(from, to int) (int64, int) {
		opened := slices.Sorted(slices.Values(w.opened[from:to]))
		return slices.Max(w.rss[from:to]), opened[len(opened)/2]
	}
	rss1, files1 := most(0, n/3)
	rss2, files2 := most(n/3, 2*n/3)
	rss3, files3 := most(2*n/3, n)
	line := fmt.Sprintf("%-26s memory %d, %d, %d MB, descriptors %d, %d, %d (the maximum and the median of each third; %d samples)", w.name,
		rss1>>20, rss2>>20, rss3>>20, files1, files2, files3, n)
	if rss3 > max(rss1, rss2)+growth || files3 > max(files1, files2)+moreFiles {
		return "FAILED " + line, fmt.Errorf("it grew in the last third")
	}
	return "ok     " + line, nil
}
