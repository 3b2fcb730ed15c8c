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

// An rpcx process may leak resources after a faulty peer has disconnected. faults reads these from the unchanged binary: on SIGQUIT,
// Go's runtime writes all goroutines to stderr and exits with status 2. faults compares them with the resources of the same command
// after a correct peer.

// held is the resources of a process.
type held struct {
	goroutines map[string]int // by the function that started the goroutines
	files      []string       // file descriptors
}

var (
	goroutine = regexp.MustCompile(`(?m)^goroutine ([1-9]\d*) .*\[`)
	createdBy = regexp.MustCompile(`(?m)^created by (\S+)`)
)

// parseDump parses the stacks in a process's stderr without the goroutines of Go's runtime.
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

// beyond returns the resources of h that usual lacks, or "".
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

// holds ends a process that has been idle for that time, and returns its resources. It returns nil if the process had ended before.
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

// quiet waits until a process has been idle for that time.
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

// work returns a string that changes with every action of a process.
func (p process) work() string {
	tasks, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(p.pid), "task", "*", "schedstat"))
	text := strconv.Itoa(len(p.descriptors()))
	for _, t := range tasks {
		ran, _ := os.ReadFile(t)
		text += " " + string(ran)
	}
	return text
}

// These are the idle times before faults reads a process's resources. The first is short. If the process then has too many resources,
// the second exceeds any cleanup in rpcx.
const (
	moment   = 3 * lookEvery
	longer   = 3 * time.Second
	unneeded = time.Hour
)

// compare compares the resources of a process after a cell's fault with those after a run without a fault. look runs either. compare
// returns nil if no process continues.
func (b *bench) compare(v *verdict, look func(c cell, still time.Duration) *held) {
	none := cell{v.cell.run, v.cell.over, faults()[0]}
	once, _ := b.usual.LoadOrStore(none.name(), sync.OnceValue(func() *held { return look(none, longer) }))
	usual := once.(func() *held)()
	if usual == nil { // the machine was too busy for that run
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
		// A command that a busy machine delayed has fewer resources. The excess counts only if another run without a
		// fault confirms it.
		if usual = look(none, longer); usual == nil || h.beyond(usual) == "" {
			return
		}
	}
	v.wrong("left behind: %s", more)
	v.slow = true
}

// stays returns the process of a cell that continues after its commands, or nil. With a faulty peer, this is a named session,
// which reconnects, or a recorder.
func (b *bench) stays(v *verdict, c cell, still time.Duration) *held {
	r := b.room(c)
	defer r.leave()
	h, err := c.open(r, b.self, c.luck(b.seed), func(phase) {})
	if err != nil {
		v.wrong("no peer: %v", err)
		return nil
	}
	defer h.end()
	at := places{far: h.endpoint, near: c.over.listen, room: r}
	var s *server
	steps := c.run.steps
	if c.run.listens != nil {
		s = b.server(b.words(c.run.listens, c, at), r)
		must(s.listen(""))
		at.at = s.at
	} else {
		words := b.words(steps[0], c, at)
		if !c.over.child {
			words = append(words, "--connect-timeout", b.timeout.String())
		}
		if !c.over.http { // over HTTP, no connection can be lost
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
			b.step(b.words(words, c, at), c.run.stdin, r)
		}
	}
	if c.fault.asks() { // a peer that sends more requests must disconnect first
		h.end()
		for _, p := range marked(r.id) {
			if strings.HasPrefix(p.name, b.self+" child ") {
				syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
	}
	return s.holds(v, still)
}
