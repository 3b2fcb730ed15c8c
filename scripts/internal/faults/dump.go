//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// An rpcx process could keep resources after a faulty peer has closed. faults reads them from the unchanged binary: on SIGQUIT,
// Go's runtime writes all goroutines to stderr and exits with status 2. They are compared with those of the same command after a
// correct peer.

// held has the resources of a process.
type held struct {
	goroutines map[string]int // by the function that started them
	files      []string       // file descriptors
}

var (
	goroutine = regexp.MustCompile(`(?m)^goroutine ([1-9]\d*) .*\[`)
	createdBy = regexp.MustCompile(`(?m)^created by (\S+)`)
)

// parseDump parses the stacks on a process's stderr, without the goroutines of Go's runtime.
func parseDump(text string) map[string]int {
	all := map[string]int{}
	starts := goroutine.FindAllStringIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		by := "main"
		if m := createdBy.FindStringSubmatch(text[at[0]:end]); m != nil {
			by = m[1]
		}
		if !strings.HasPrefix(by, "runtime.") {
			all[by]++
		}
	}
	return all
}

func count(goroutines map[string]int) (n int) {
	for _, k := range goroutines {
		n += k
	}
	return n
}

// beyond returns the resources of h that exceed those of usual, or "".
func (h *held) beyond(usual *held) string {
	text := ""
	if n, most := count(h.goroutines), count(usual.goroutines); n > most {
		text = fmt.Sprintf("%d goroutines, %d after one who did no wrong", n, most)
		for by, k := range h.goroutines {
			if was := usual.goroutines[by]; k > was {
				text += fmt.Sprintf("; %d of %s, not %d", k, by, was)
			}
		}
	}
	if n, most := len(h.files), len(usual.files); n > most {
		text += fmt.Sprintf("%d descriptors, %d after one who did no wrong: %q", n, most, h.files)
	}
	return text
}

// holds ends a process that has been idle for the given time, and returns its resources. It returns nil if the process has already ended.
func (s *server) holds(v *verdict, still time.Duration) *held {
	s.self().quiet(still, still+2*time.Second)
	h := &held{files: s.self().descriptors()}
	s.cmd.Process.Signal(syscall.SIGQUIT)
	if !s.wait(patience) {
		v.wrong("it did not end within %v of SIGQUIT", patience)
		v.slow = true
		return nil
	}
	text := s.errs.String()
	at := strings.LastIndex(text, "SIGQUIT: quit\n")
	if at < 0 {
		return nil
	}
	h.goroutines = parseDump(text[at:])
	if count(h.goroutines) == 0 {
		v.wrong("SIGQUIT shows no goroutine: %q", text[at:])
		v.slow = true
	}
	return h
}

const lookEvery = 20 * time.Millisecond

// quiet waits until a process has been idle for the given time.
func (p process) quiet(still, limit time.Duration) {
	var was string
	since := time.Now()
	for deadline := since.Add(limit); time.Now().Before(deadline); time.Sleep(lookEvery) {
		if is := p.work(); is != was {
			was, since = is, time.Now()
		} else if time.Since(since) >= still {
			return
		}
	}
}

// work returns a string that changes with everything that a process does.
func (p process) work() string {
	tasks, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(p.pid), "task", "*", "schedstat"))
	text := strconv.Itoa(len(p.descriptors()))
	for _, t := range tasks {
		ran, _ := os.ReadFile(t)
		text += " " + string(ran)
	}
	return text
}

// A process is idle for one of these times before its resources are read. The first is short. If there are too many resources, the
// second is used, which exceeds all cleanup delays in rpcx.
const (
	moment   = 3 * lookEvery
	longer   = 3 * time.Second
	unneeded = time.Hour
)

// compare compares the resources of a process after a cell's fault with those after a run without a fault. look runs a cell and
// returns the resources, or nil if no process continues.
func (b *bench) compare(v *verdict, look func(c cell, still time.Duration) *held) {
	none := cell{v.cell.run, v.cell.over, faults()[0]}
	once, _ := b.usual.LoadOrStore(none.name(), sync.OnceValue(func() *held { return look(none, longer) }))
	usual := once.(func() *held)()
	if usual == nil { // the machine was too busy for the run
		usual = look(none, longer)
	}
	if usual == nil {
		v.wrong("nothing lives on after one who does no wrong")
		v.slow = true
		return
	}
	more := ""
	for _, still := range []time.Duration{moment, longer} {
		h := look(v.cell, still)
		if h == nil {
			return
		}
		v.holds = fmt.Sprintf("%d goroutines and %d descriptors, after no fault %d and %d", count(h.goroutines), len(h.files), count(usual.goroutines), len(usual.files))
		if more = h.beyond(usual); more == "" {
			return
		}
		if still == moment {
			continue
		}
		// On a busy machine, a delayed command has fewer resources. More resources than that count only if another run without a
		// fault confirms the difference.
		if usual = look(none, longer); usual == nil || h.beyond(usual) == "" {
			return
		}
	}
	v.wrong("left behind: %s", more)
	v.slow = true
}

// stays returns the process that continues after a cell's commands, or nil. With a faulty peer, this is a named session, which
// reconnects, or a recorder.
func (b *bench) stays(v *verdict, c cell, still time.Duration) *held {
	r := b.room(c)
	defer r.leave()
	h, err := c.open(r, b.self, c.luck(b.seed), func(phase) {})
	if err != nil {
		v.wrong("no peer: %v", err)
		return nil
	}
	defer h.end()
	at := places{peer: h.endpoint, listen: c.over.listen, room: r}
	var s *server
	steps := c.run.steps
	if c.run.listens != nil {
		s = b.server(b.arguments(c.run.listens, c, at), r)
		must(s.listen(""))
		at.at = s.at
	} else {
		words := b.arguments(steps[0], c, at)
		if !c.over.child {
			words = append(words, "--connect-timeout", b.timeout.String())
		}
		if !c.over.http { // over HTTP, there is no connection to lose
			words = append(words, "--reconnect", "--reconnect-for", unneeded.String())
		}
		s = b.server(nil, r)
		if !s.daemon("faults", words) {
			return nil
		}
		steps = steps[1 : len(steps)-1]
	}
	defer s.kill()
	for range 2 { // again after a reconnect
		for _, words := range steps {
			b.step(b.arguments(words, c, at), c.run.stdin, r)
		}
	}
	if c.fault.asks() { // a peer that sends more requests must close first
		h.end()
		for _, p := range marked(r.id) {
			if strings.HasPrefix(p.name, b.self+" child ") {
				syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
	}
	return s.holds(v, still)
}
