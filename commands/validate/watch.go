package validate

import (
	"bytes"
	"cmp"
	"context"
	"sync"

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

// newWatch sets the watch of j. If the dialect has no rules, it prints a note, and the watch checks nothing.
func (j *peerChecker) newWatch() error {
	j.watch = &watch{judged: cmp.Or(j.o.role, "server")}
	if !rules.Has(j.endpoint.Dialect) {
		j.skip("the rules", j.endpoint.Dialect+" has none")
		return nil
	}
	set, err := rules.For(j.endpoint.Dialect)
	if err == nil {
		j.watch.check, err = newRuleCheck(j.run, set, j.o.disable)
	}
	return err
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
		w.received = w.received || noise && w.judged == "server" || !noise && rules.Sender(l.Dir) == w.judged
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

// note keeps the first problems of each rule about the side to check. It only counts the others, so that a peer cannot
// fill the memory.
func (w *watch) note(found []validate.Problem) {
	for _, p := range found {
		if p.From == w.judged && w.check.counts(&p) {
			p.Dir, p.Number, p.Line = "recv", p.Line, 0
			w.found = append(w.found, p)
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
		if err := j.rule(name, "rules", w.found); err != nil {
			return err
		}
		if n := w.check.many[name]; n > maxOfRule {
			j.run.Console.Note(name + ": " + wire.Count(n-maxOfRule, "more problem") + " not shown")
		}
	}
	return nil
}

// tapeOf records the conversation for the watch, and on the user's tape.
func (j *peerChecker) tapeOf(endpoint string) (err error) {
	j.o.client.Record.Also = j.watch
	if j.record, err = j.o.client.Record.Open(j.run, endpoint, j.endpoint.Dialect, true); err == nil {
		j.record.Note(tape.JudgedNote + j.watch.judged)
	}
	return err
}
