// Package values checks JSON values, in one file or several, with one JSON Schema.
//
//	values.go   Check
//	reader.go   the values in a file: NDJSON, or JSON over many lines
//	source.go   --schema: a file, and the part of it to use
package values

import (
	"context"
	"io"

	"rpcx/wire"
	"rpcx/wire/schema"
	"rpcx/wire/validate"
)

// Check checks every value in r, the content of source, with s, in order. For each value, it calls each with the value's line
// (from 1), its problems, and the reason why the check is incomplete, or "". Invalid JSON is a problem under the rule
// json and does not end the check. Check returns the error of ctx, of r or of each.
func Check(ctx context.Context, s *schema.Schema, source string, r io.Reader, each func(line int, problems []validate.Problem, open string) error) error {
	values := newReader(r)
	for {
		v, err := values.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		found, open := []schema.Mismatch{{Rule: "json", Message: v.broken}}, ""
		if v.broken == "" {
			if found, open, err = s.All(ctx, v.text); err != nil {
				return err
			}
		}
		problems := wire.Map(found, func(m schema.Mismatch) validate.Problem {
			return validate.Problem{
				Source: source, Line: v.line, Rule: m.Rule, Section: m.Schema, Pointer: validate.Place(m.Pointer), Message: m.Message, Branches: m.Branches,
			}
		})
		if err := each(v.line, problems, open); err != nil {
			return err
		}
	}
}
