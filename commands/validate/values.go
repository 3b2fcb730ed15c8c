package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"rpcx/commands/env"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/schema"
	"rpcx/wire/validate"
	"rpcx/wire/validate/values"
)

// tally counts values: all, those that do not match, and those that could be checked only in part, with the first
// reason.
type tally struct {
	all, wrong, open int
	why              string
}

// note counts a value.
func (t *tally) note(problems []validate.Problem, open string) {
	t.all++
	if len(problems) > 0 {
		t.wrong++
	}
	if open != "" {
		t.open++
		t.why = cmp.Or(t.why, open)
	}
}

// skipped returns how many values were checked only in part, and why, or "" if all were checked.
func (t *tally) skipped() string {
	if t.open == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s only partly checked: %s", t.open, wire.Count(t.all, "value"), t.why)
}

// values checks the values in the files against the schema. Without files it checks stdin.
func (o *validateOptions) values(ctx context.Context, r *outcome, files []string) error {
	copies, err := values.Copies(o.copies)
	if err != nil {
		return err
	}
	s, err := values.Open(o.schema, schema.FileOptions{Draft: o.draft, Formats: o.formats, Warn: r.run.Console.Warn, Copies: copies})
	if err != nil {
		return err
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	r.suite("rpcx validate --schema " + o.schema)
	var total tally
	var broken error
	cl := env.NewDeadline(ctx, o.client.Time.Timeout.Or(0), 0)
	defer cl.Stop()
	for _, file := range files {
		err := r.valuesOf(cl.Ctx, s, file, &total)
		if err != nil && r.target.Wanted() && wire.AsFault(err).Kind == wire.Usage {
			broken = errors.Join(broken, err) // the report has the error; the other files are still checked
			continue
		}
		if err != nil {
			return err
		}
	}
	return r.write(errors.Join(broken, r.sumValues(total, len(files), o.schema)))
}

// valuesOf checks one file, which is a case of the report.
func (r *outcome) valuesOf(ctx context.Context, s *schema.Schema, file string, total *tally) error {
	test := report.Case{Name: file}
	started := time.Now()
	in, name, err := input(ctx, file)
	if err == nil {
		defer func() { _ = in.Close() }()
		var own tally
		err = env.Cause(ctx, values.Check(ctx, s, name, in, func(_ int, problems []validate.Problem, open string) error {
			own.note(problems, open)
			total.note(problems, open)
			for i := range problems {
				r.into(&test, &problems[i])
				if err := r.print(&problems[i]); err != nil {
					return err
				}
			}
			return context.Cause(ctx)
		}))
		test.Skipped = own.skipped()
	}
	if err != nil && wire.AsFault(err) == nil {
		err = wire.NewFault(wire.Usage, file+": "+err.Error(), err)
	}
	if err != nil {
		test.Error = err.Error()
	}
	test.Duration = time.Since(started)
	r.add(test)
	return err
}

// input opens a file of values; "-" is stdin.
func input(ctx context.Context, file string) (in io.ReadCloser, name string, err error) {
	if file == "-" {
		return io.NopCloser(env.Stdin(ctx)), "stdin", nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, file, wire.NewFault(wire.Usage, err.Error(), err)
	}
	return f, file, nil
}

// sumValues prints the number of values, and of those that do not match.
func (r *outcome) sumValues(t tally, files int, schema string) error {
	of := wire.Count(t.all, "value")
	if files > 1 {
		of += fmt.Sprintf(" in %d files", files)
	}
	do := "do"
	if t.wrong == 1 {
		do = "does"
	}
	switch {
	case t.all == 0:
		return wire.NewFault(wire.Expectation, "there was no value to check with "+schema, nil)
	case t.wrong > 0:
		return wire.NewFault(wire.Expectation, fmt.Sprintf("%d of %s %s not match %s", t.wrong, of, do, schema), nil)
	case t.open > 0 && r.strict:
		return wire.NewFault(wire.Expectation, t.skipped(), nil)
	case t.open > 0:
		r.run.Console.Note(of + ": no mismatch with " + schema + "; " + t.skipped())
	case t.all == 1:
		r.run.Console.Note(of + ", which matches " + schema)
	default:
		r.run.Console.Note(of + ", which all match " + schema)
	}
	return nil
}
