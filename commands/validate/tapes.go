package validate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/tape"
	"rpcx/wire/validate/rules"
)

// tapes checks each tape against the rules of its dialect.
func (o *validateOptions) tapes(ctx context.Context, r *outcome, files []string) error {
	if len(o.disable) > 0 {
		if err := knownRules(o.disable, rules.Dialects()); err != nil {
			return err
		}
	}
	var broken error
	var bad []string
	for _, file := range files {
		ok, err := o.tape(ctx, r, file)
		if err != nil && r.target.Wanted() && len(files) > 1 && wire.AsFault(err).Kind == wire.Usage {
			r.add(report.Case{Name: file, Error: err.Error()})
			broken = errors.Join(broken, err) // it is in the report; the other tapes are still checked
			continue
		}
		if err != nil {
			return errors.Join(broken, err)
		}
		if !ok {
			bad = append(bad, file)
		}
	}
	return r.write(errors.Join(broken, sumTapes(bad, len(files))))
}

// sumTapes returns the result for all tapes.
func sumTapes(bad []string, all int) error {
	switch {
	case len(bad) == 0:
		return nil
	case all == 1:
		return wire.NewFault(wire.Expectation, bad[0]+" does not keep the rules of its dialect", nil)
	}
	return wire.NewFault(wire.Expectation, fmt.Sprintf("%d of %d tapes do not keep the rules of their dialect: %s", len(bad), all, strings.Join(bad, ", ")), nil)
}

// tape checks one tape against the rules of its dialect, and reports whether it
// keeps them.
func (o *validateOptions) tape(ctx context.Context, r *outcome, file string) (bool, error) {
	r.suite("rpcx validate " + file)
	in, name, err := input(ctx, file)
	if err != nil {
		return false, err
	}
	defer func() { _ = in.Close() }()
	lines, err := openTape(in, file, name)
	if err != nil {
		return false, err
	}
	dialect := lines.Header().Dialect
	if o.client.Conn.Dialect != "" {
		dialect = o.client.Conn.Dialect
	}
	if dialect == "" {
		dialect = all.Default()
	}
	set, err := rules.For(dialect)
	if err != nil {
		f := tape.Fault(name, 1, err)
		f.Hint = wire.AsFault(err).Hint
		return false, f
	}
	var disabled []string
	for _, rule := range o.disable {
		if _, err := set.Rule(rule); err == nil { // otherwise a rule of another tape's dialect
			disabled = append(disabled, rule)
		}
	}
	checker, err := rules.New(set, rules.Options{Disable: disabled, Broken: func(rule, reason string) {
		r.run.Verbose("the rule " + rule + " cannot be held against a message: " + reason)
	}})
	if err != nil {
		return false, err
	}
	t := &tapeCheck{r: r, name: name, checker: checker, cases: newRuleCases(set, o.strict)}
	if err := t.all(ctx, lines); err != nil {
		return false, err
	}
	if line, cut := lines.Cut(); cut {
		r.run.Console.Warn(fmt.Sprintf("%s ends inside line %d, which was left out", name, line))
	}
	t.cases.tell(r, disabled)
	return t.cases.failures == 0, t.sum(disabled)
}

// openTape reads the header of a tape. For a file that is not a tape the error
// suggests the other checks.
func openTape(in io.Reader, file, name string) (*tape.Reader, error) {
	lines, err := tape.NewReader(in, name)
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Usage {
		f.Hint = "a catalog is compared with --against OLD, values are checked with --schema FILE"
		if strings.ContainsAny(file, " :") {
			f.Hint = ""
		}
		return nil, f
	}
	return lines, err
}

// A tapeCheck is the state of checking one tape.
type tapeCheck struct {
	r        *outcome
	name     string
	checker  *rules.Checker
	cases    *ruleCases
	messages int
}

// all checks every line.
func (t *tapeCheck) all(ctx context.Context, lines *tape.Reader) error {
	for {
		l, err := lines.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if l.Kind == tape.Message {
			t.messages++
		}
		found, err := t.checker.Line(ctx, l)
		if err == nil {
			err = errors.Join(context.Cause(ctx), t.tell(found))
		}
		if err != nil {
			return err
		}
	}
	found, err := t.checker.End(ctx)
	return errors.Join(err, t.tell(found))
}

// tell prints findings.
func (t *tapeCheck) tell(found []rules.Finding) error {
	for _, f := range found {
		line := ofRule(t.name, f, t.cases.warns(f.Rule))
		line.line, line.dir = f.Line, map[string]string{"client": "send", "server": "recv"}[f.From]
		t.cases.add(f.Rule, line)
		if err := t.r.print(line); err != nil {
			return err
		}
	}
	return nil
}

// sum prints how many messages were checked against how many rules.
func (t *tapeCheck) sum(disabled []string) error {
	if t.messages == 0 {
		return wire.NewFault(wire.Expectation, "there is no message on "+t.name, nil)
	}
	text := fmt.Sprintf("%s: %s, %s of %s", t.name, count(t.messages, "message"), count(len(t.cases.set.Rules)-len(disabled), "rule"), t.cases.set.Dialect)
	if n := len(disabled); n > 0 {
		text += fmt.Sprintf(" (%d disabled)", n)
	}
	switch f, w := t.cases.failures, t.cases.warnings; {
	case f == 0 && w == 0:
		text += ": all kept"
	case w == 0:
		text += ": " + count(f, "finding")
	case f == 0:
		text += ": " + count(w, "warning")
	default:
		text += fmt.Sprintf(": %s, %s", count(f, "finding"), count(w, "warning"))
	}
	t.r.run.Console.Note(text)
	return nil
}
