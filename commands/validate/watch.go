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
	"rpcx/wire/validate/rules"
)

// A watch checks the messages of a connection against the rules of the dialect.
type watch struct {
	set     *rules.Set // nil: the dialect has none
	us      string     // our side, whose violations are not reported
	started time.Time

	mu      sync.Mutex
	checker *rules.Checker
	number  int
	found   []rules.Finding // the first findings of each rule
	many    map[string]int  // how many findings each rule has
	err     error
}

// newWatch returns a watch. For a dialect without rules it checks nothing, and
// says so.
func newWatch(j *peerChecker) (*watch, error) {
	w := &watch{started: time.Now(), us: j.us(), many: map[string]int{}}
	if !rules.Has(j.endpoint.Dialect) {
		j.skipped.add("the rules", j.endpoint.Dialect+" has none")
		return w, nil
	}
	var err error
	if w.set, err = rules.For(j.endpoint.Dialect); err != nil {
		return nil, err
	}
	var disabled []string
	for _, name := range j.o.disable {
		if _, err := w.set.Rule(name); err == nil { // otherwise a probe
			disabled = append(disabled, name)
		}
	}
	w.checker, err = rules.New(w.set, rules.Options{Disable: disabled, Broken: func(rule, reason string) {
		j.run.Verbose("the rule " + rule + " cannot be held against a message: " + reason)
	}})
	return w, err
}

// names returns the names of the rules.
func (w *watch) names() (all []string) {
	if w.set == nil {
		return nil
	}
	for _, r := range w.set.Rules {
		all = append(all, r.Name)
	}
	return all
}

// tap checks a message; it is a wire.Tap. Findings have the numbers of the
// messages that tap has seen.
func (w *watch) tap(d wire.Direction, msg []byte) { w.message(0, d, msg) }

// message checks a message of one of several connections. d is the direction
// from the client's side.
func (w *watch) message(conn int, d wire.Direction, msg []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number++
	if w.checker == nil || w.err != nil {
		return
	}
	l := tape.Line{Number: w.number, Kind: tape.Message, Conn: conn, Time: time.Since(w.started), Dir: d}
	if text := bytes.Clone(msg); scan.Valid(text, wire.DefaultMaxDepth) == nil {
		l.Msg = text
	} else {
		l.Bytes = text
	}
	var found []rules.Finding
	found, w.err = w.checker.Line(context.Background(), &l)
	w.note(found)
}

// note keeps the first findings of each rule about the side that is checked,
// and counts the others, so that a peer cannot fill the memory.
func (w *watch) note(found []rules.Finding) {
	for _, f := range found {
		if f.From == w.us {
			continue
		}
		if w.many[f.Rule.Name]++; w.many[f.Rule.Name] <= maxOfRule {
			w.found = append(w.found, f)
		}
	}
}

// end reports the findings: each rule is a case.
func (w *watch) end(ctx context.Context, j *peerChecker) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.checker == nil || w.err != nil {
		return w.err
	}
	late, err := w.checker.End(ctx)
	if err != nil {
		return err
	}
	w.note(late)
	for i := range w.set.Rules {
		if err := w.rule(j, &w.set.Rules[i]); err != nil {
			return err
		}
	}
	return nil
}

// maxOfRule bounds the findings of a rule that are reported.
const maxOfRule = 20

// rule reports the findings of one rule.
func (w *watch) rule(j *peerChecker, r *rules.Rule) error {
	if slices.Contains(j.o.disable, r.Name) {
		j.skip(r.Name, "--disable")
		return nil
	}
	c := report.Case{Name: r.Name, Class: j.endpoint.Dialect + " rules"}
	warning := r.Level == rules.Should && !j.o.strict
	var found []finding
	for _, f := range w.found {
		if f.Rule.Name == r.Name {
			found = append(found, j.ofRule(f, warning))
		}
	}
	j.count.all++
	err := j.found(c, found...)
	if n := w.many[r.Name]; n > maxOfRule && err == nil {
		j.run.Console.Note(fmt.Sprintf("%s: %d more findings are not shown", r.Name, n-maxOfRule))
	}
	return err
}

// us returns our side, whose violations are not reported.
func (j *peerChecker) us() string {
	if j.o.role == "client" {
		return "server"
	}
	return "client"
}

// ofRule returns a broken rule as a finding.
func (j *peerChecker) ofRule(f rules.Finding, warning bool) finding {
	found := ofRule(j.endpoint.String(), f, warning)
	found.dir, found.number = "recv", f.Line
	if f.From == j.us() {
		found.dir = "send"
	}
	return found
}
