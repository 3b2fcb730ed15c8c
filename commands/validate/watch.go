package validate

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/validate"
	"rpcx/wire/validate/rules"
)

// A watch checks a live conversation against the rules of the dialect. It reads the tape of the conversation line by
// line during recording, so that rpcx judges a live peer and its tape in the same way.
type watch struct {
	judged string // the side whose violations are reported: "client" or "server"

	mu       sync.Mutex
	check    *ruleCheck // nil if the dialect has no rules
	number   int        // the number of the latest message
	clients  int        // the number of connections
	received bool       // the side to check has sent something
	line     tape.Line
	header   bool               // the tape's header line has been read
	found    []validate.Problem // the first problems of each rule
	err      error
}

// newWatch returns a watch. If the dialect has no rules, it prints a note and checks nothing.
func newWatch(j *peerChecker) (*watch, error) {
	w := &watch{judged: "server"}
	if j.o.role == "client" {
		w.judged = "client"
	}
	if !rules.Has(j.endpoint.Dialect) {
		j.skip("the rules", j.endpoint.Dialect+" has none")
		return w, nil
	}
	set, err := rules.For(j.endpoint.Dialect)
	if err == nil {
		w.check, err = newRuleCheck(j.run, set, j.o.disable)
	}
	return w, err
}

// Write accepts whole lines of a tape. It never fails: errors in a rule are reported at the end.
func (w *watch) Write(lines []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range bytes.Lines(lines) {
		if !w.header {
			w.header = true
			continue
		}
		if err := w.line.ParseLine(bytes.TrimSuffix(line, []byte("\n"))); err == nil {
			w.see(&w.line)
		} else if w.err == nil {
			w.err = err
		}
	}
	return len(lines), nil
}

// see checks a line. Problems have the numbers of messages, not of lines.
func (w *watch) see(l *tape.Line) {
	_, noise := rules.Noise(l)
	switch {
	case l.Kind == tape.Opening:
		w.clients++
	case l.Kind == tape.Message || noise:
		w.number++
		w.received = w.received || noise && w.judged == "server" || !noise && sender(l.Dir) == w.judged
	}
	l.Number = w.number
	if w.check == nil || w.err != nil {
		return
	}
	var found []validate.Problem
	found, w.err = w.check.Line(context.Background(), l)
	w.note(found)
}

// connections returns the number of connections.
func (w *watch) connections() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clients
}

// sender returns the side that sent in direction d, which is the client's direction.
func sender(d wire.Direction) string {
	if d == wire.Send {
		return "client"
	}
	return "server"
}

// note keeps the first problems of each rule about the side to check. It only counts the others, so that a peer cannot
// fill the memory.
func (w *watch) note(found []validate.Problem) {
	for i := range found {
		if found[i].From == w.judged && w.check.counts(&found[i]) {
			w.found = append(w.found, found[i])
		}
	}
}

// end reports the problems; each rule is a case.
func (w *watch) end(ctx context.Context, j *peerChecker) error {
	if j.record != nil {
		_ = j.record.Close() // writes pending output; its error is that of the command
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.check == nil || w.err != nil {
		return w.err
	}
	if !w.received {
		j.skip("the rules", "the peer sent no message")
		return nil
	}
	last, err := w.check.End(ctx)
	if err != nil {
		return err
	}
	w.note(last)
	for _, name := range namesOf(w.check.set) {
		if err := w.rule(j, name); err != nil {
			return err
		}
	}
	return nil
}

// rule reports the problems of one rule.
func (w *watch) rule(j *peerChecker, name string) error {
	if slices.Contains(j.o.disable, name) {
		j.skip(name, "--disable")
		return nil
	}
	var found []validate.Problem
	for _, p := range w.found {
		if p.Rule == name {
			p.Source, p.Warning = j.endpoint.String(), j.r.warns(p.Level)
			p.Dir, p.Number, p.Line = "recv", p.Line, 0
			found = append(found, p)
		}
	}
	err := j.r.check(report.Case{Name: name, Class: j.endpoint.Dialect + " rules"}, found...)
	if n := w.check.many[name]; n > maxOfRule && err == nil {
		j.run.Console.Note(name + ": " + count(n-maxOfRule, "more problem") + " not shown")
	}
	return err
}

// tapeOf records the conversation for the watch, and on the user's tape.
func (j *peerChecker) tapeOf(endpoint string) (err error) {
	j.o.client.Record.Also(j.watch)
	if j.record, err = j.o.client.Record.Open(j.run, endpoint, j.endpoint.Dialect, true); err == nil {
		j.record.Note(tape.JudgedNote + j.watch.judged)
	}
	return err
}

// recordInvalid returns a function that records invalid lines from a peer as if they were messages.
func recordInvalid(to func(d wire.Direction, msg []byte), next func(line []byte)) func(line []byte) {
	return func(line []byte) {
		to(wire.Recv, []byte(strings.ToValidUTF8(string(line), "\ufffd")))
		next(line)
	}
}
