package validate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/validate"
	"rpcx/wire/validate/rules"
)

// A watch checks the messages of a connection against the rules of the dialect.
type watch struct {
	us      string // the local side, whose violations are not reported
	started time.Time

	mu     sync.Mutex
	check  *ruleCheck // nil: the dialect has no rules
	number int
	heard  bool               // the side that is checked sent something
	found  []validate.Problem // the first problems of each rule
	err    error
}

// newWatch returns a watch. For a dialect without rules it checks nothing, and
// says so.
func newWatch(j *peerChecker) (*watch, error) {
	w := &watch{started: time.Now(), us: "client"}
	if j.o.role == "client" {
		w.us = "server"
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

// tap checks a message; it is a wire.Tap. Problems have the numbers of the
// messages that tap has seen.
func (w *watch) tap(d wire.Direction, msg []byte) { w.message(0, d, msg) }

// message checks a message of one of several connections. d is the direction
// from the client's side.
func (w *watch) message(conn int, d wire.Direction, msg []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number++
	w.heard = w.heard || sender(d) != w.us
	if w.check == nil || w.err != nil {
		return
	}
	l := tape.Line{Number: w.number, Kind: tape.Message, Conn: conn, Time: time.Since(w.started), Dir: d}
	if text := bytes.Clone(msg); scan.Valid(text, wire.DefaultMaxDepth) == nil {
		l.Msg = text
	} else {
		l.Bytes = text
	}
	var found []validate.Problem
	found, w.err = w.check.Line(context.Background(), &l)
	w.note(found)
}

// sender returns the side that sent in direction d, as the client sees it.
func sender(d wire.Direction) string {
	if d == wire.Send {
		return "client"
	}
	return "server"
}

// note keeps the first problems of each rule about the side that is checked, and
// counts the others, so that a peer cannot fill the memory.
func (w *watch) note(found []validate.Problem) {
	for i := range found {
		if found[i].From != w.us && w.check.counts(&found[i]) {
			w.found = append(w.found, found[i])
		}
	}
}

// end reports the problems: each rule is a case.
func (w *watch) end(ctx context.Context, j *peerChecker) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.check == nil || w.err != nil {
		return w.err
	}
	if !w.heard {
		j.skip("the rules", "no message came")
		return nil
	}
	late, err := w.check.End(ctx)
	if err != nil {
		return err
	}
	w.note(late)
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
		j.run.Console.Note(fmt.Sprintf("%s: %d more findings are not shown", name, n-maxOfRule))
	}
	return err
}
