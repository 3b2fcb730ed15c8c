package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/tape"
	"rpcx/wire/validate"
	"rpcx/wire/validate/rules"
)

// tapes checks each tape against the rules of its dialect.
func (o *validateOptions) tapes(ctx context.Context, r *outcome, files []string) error {
	if len(o.disable) > 0 {
		own := append(all.OwnNames(), o.client.Conn.Dialect)
		dialects := append(rules.Dialects(), slices.DeleteFunc(own, func(name string) bool { return !rules.Has(name) })...)
		if err := knownRules(o.disable, dialects); err != nil {
			return err
		}
	}
	var broken error
	var bad []string
	for _, file := range files {
		switch ok, err := o.tape(ctx, r, file); {
		case err == nil && !ok:
			bad = append(bad, file)
		case err == nil:
		case r.target.Wanted() && len(files) > 1 && wire.AsFault(err).Kind == wire.Usage:
			r.add(report.Case{Name: file, Error: err.Error()})
			broken = errors.Join(broken, err) // the report has the error; the other tapes are still checked
		case wire.AsFault(err).Kind == wire.Expectation: // nothing checked
			broken = errors.Join(broken, err)
		default:
			return errors.Join(broken, err)
		}
	}
	switch {
	case len(bad) == 0:
	case len(files) == 1:
		broken = wire.NewFault(wire.Expectation, bad[0]+" failed the check", nil)
	default:
		text := fmt.Sprintf("%d of %d tapes failed the check: %s", len(bad), len(files), strings.Join(bad, ", "))
		broken = errors.Join(broken, wire.NewFault(wire.Expectation, text, nil))
	}
	return r.write(broken)
}

// tape checks one tape against the rules of its dialect, and reports whether it passes.
func (o *validateOptions) tape(ctx context.Context, r *outcome, file string) (bool, error) {
	r.suite("rpcx validate " + file)
	in, name, err := input(ctx, file)
	if err != nil {
		return false, err
	}
	defer func() { _ = in.Close() }()
	lines, err := tape.NewReader(in, name)
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Usage && !strings.ContainsAny(file, " :") {
		return false, f.WithHint("if it is not a tape, use --against OLD to compare catalogs, or --schema FILE to check values")
	}
	if err != nil {
		return false, err
	}
	spec, err := all.FromTape(cmp.Or(o.client.Conn.Dialect, lines.Header().Dialect))
	if err != nil {
		return false, tape.Fault(name, 1, err)
	}
	dialect := spec.Name
	if !rules.Has(dialect) {
		r.add(report.Case{Name: "the rules", Class: dialect, Skipped: dialect + " has no rules"})
		return false, nothingChecked(name, dialect+" has no rules")
	}
	set, err := rules.For(dialect)
	if err != nil {
		return false, tape.Fault(name, 1, err)
	}
	rules, err := newRuleCheck(r.run, set, o.disable)
	if err != nil {
		return false, err
	}
	t := &tapeCheck{ruleCheck: rules, r: r, name: name, cases: map[string]*report.Case{}}
	for _, rule := range set.Rules {
		t.cases[rule.Name] = &report.Case{Name: rule.Name, Class: set.Dialect}
	}
	if err := t.all(ctx, lines); err != nil {
		return false, err
	}
	if line, cut := lines.Cut(); cut {
		t.cut = line
		r.run.Console.Warn(fmt.Sprintf("%s ends inside line %d, which was not checked", name, line))
	}
	t.report()
	return t.failed == 0 && t.cut == 0, t.sum()
}

// nothingChecked returns the failure for a tape in which rpcx could check nothing.
func nothingChecked(name, why string) error {
	return wire.NewFault(wire.Expectation, name+": nothing checked: "+why, nil)
}

// A tapeCheck is the state of checking one tape.
type tapeCheck struct {
	*ruleCheck
	r        *outcome
	name     string
	cases    map[string]*report.Case // by rule
	messages int                     // the number of checked messages
	judged   string                  // the side whose problems are reported, "client" or "server"; "" means both
	cut      int                     // the line inside which the tape ends, or 0
	failed   int                     // the number of problems that make the check fail
	warned   int                     // the number of other problems
}

// all checks every line.
func (t *tapeCheck) all(ctx context.Context, lines *tape.Reader) error {
	for {
		l, err := lines.Next()
		if err == io.EOF {
			found, err := t.End(ctx)
			return errors.Join(err, t.printProblems(found))
		}
		if err != nil {
			return err
		}
		if l.Kind == tape.Message && l.Payload() != nil {
			t.messages++
		}
		if side, ok := strings.CutPrefix(l.Note, tape.JudgedNote); ok && l.Kind == tape.Note {
			t.judged = side
		}
		found, err := t.Line(ctx, l)
		if err == nil {
			err = errors.Join(context.Cause(ctx), t.printProblems(found))
		}
		if err != nil {
			return err
		}
	}
}

// printProblems prints problems, and stores the first problem of each rule for the report.
func (t *tapeCheck) printProblems(found []validate.Problem) error {
	for i := range found {
		p := &found[i]
		if t.judged != "" && p.From != t.judged {
			continue
		}
		p.Source, p.Warning = t.name, t.r.warns(p.Level)
		p.Dir = map[string]string{"client": "send", "server": "recv"}[p.From]
		if p.Warning {
			t.warned++
		} else {
			t.failed++
		}
		if t.counts(p) {
			t.r.into(t.cases[p.Rule], p)
		}
		if err := t.r.print(p); err != nil {
			return err
		}
	}
	return nil
}

// report adds the cases to the report, one for each rule. Disabled rules are skipped cases.
func (t *tapeCheck) report() {
	for _, rule := range t.set.Rules {
		c := t.cases[rule.Name]
		if slices.Contains(t.disabled, rule.Name) {
			c.Skipped = "--disable"
		} else if t.messages == 0 {
			c.Skipped = noMessage
		}
		if more := t.many[rule.Name] - maxOfRule; more > 0 {
			c.Stdout += fmt.Sprintf("and %d more\n", more)
		}
		t.r.add(*c)
	}
	if t.cut > 0 {
		name := fmt.Sprintf("line %d", t.cut)
		t.r.add(report.Case{Name: name, Class: t.set.Dialect, Error: "the tape ends inside " + name})
	}
}

// noMessage is the reason for a tape without messages.
const noMessage = "the tape has no messages"

// sum prints how many messages and how many rules were checked.
func (t *tapeCheck) sum() error {
	if t.messages == 0 {
		return nothingChecked(t.name, noMessage)
	}
	text := fmt.Sprintf("%s: %s, %s of %s", t.name, wire.Count(t.messages, "message"), wire.Count(len(t.set.Rules)-len(t.disabled), "rule"), t.set.Dialect)
	if n := len(t.disabled); n > 0 {
		text += fmt.Sprintf(" (%d disabled)", n)
	}
	var words []string
	if t.failed > 0 {
		words = append(words, wire.Count(t.failed, "problem"))
	}
	if t.warned > 0 {
		words = append(words, wire.Count(t.warned, "warning"))
	}
	if t.cut > 0 {
		words = append(words, "cut off in its last line")
	}
	t.r.run.Console.Note(text + ": " + cmp.Or(strings.Join(words, ", "), "passed"))
	return nil
}
